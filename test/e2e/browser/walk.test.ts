/**
 * An administrator's day in a real browser against the real service: applications report, an agent
 * claims over HTTP, a person looks, comments and decides. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { ADMIN_ACCOUNT } from '../../support/service.js';
import { useBrowser } from './use-browser.js';

const STACK = [
  "TypeError: Cannot read properties of undefined (reading 'amount')",
  '    at totalOf (/srv/shop/src/basket/total.ts:41:27)',
  '    at checkout (/srv/shop/src/http/checkout.ts:63:5)',
].join('\n');

describe('web: a complete session in a real browser', () => {
  const web = useBrowser({
    isProgram: true,
    projects: ['shop'],
    scopes: 'bugtracker:report,bugtracker:manage',
  });

  /** Reports an error of its own, and answers its ref. */
  const reported = (message: string, fields: object = {}): Promise<string> =>
    web.reportError('shop', message, {
      error_level: 'fatal',
      stack_trace: STACK,
      environment: 'production',
      app_version: '2.4.1',
      ...fields,
    });

  it('signs in, opens dashboard and list, claims and comments on an item, sets its status, signs out', async () => {
    const ref = await reported('the walk’s own error');
    await web.post(`/api/bugtracker/v1/bugs/${ref}/claim`, {
      agent: 'fixer-7',
    });
    await reported('nobody has this one');
    const { page } = await web.openTab({ username: null });

    expect(await web.tab.go('/bugs')).to.equal(200);
    expect(page.url()).to.include('/login');
    await web.tab.signInByHand(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
    expect(await page.locator('#panel-bugs\\.attention').innerText()).to.include('nobody has this one');
    expect(await page.locator('#panel-errorstream\\.traffic svg.series').count()).to.equal(1);

    await page
      .getByRole('link', { name: /^Issues/ })
      .first()
      .click();
    // The bare list is what waits for somebody.
    expect(await page.locator('tbody').innerText())
      .to.include('nobody has this one')
      .and.not.include('the walk');
    await page
      .getByRole('link', { name: /^Claimed/ })
      .first()
      .click();
    const row = page.locator('tr', { hasText: ref }).filter({ hasText: 'the walk' });
    expect(await row.innerText())
      .to.include('fixer-7')
      .and.include('In progress')
      .and.include('Critical');
    await row.getByRole('link').first().click();

    expect(page.url()).to.equal(`${web.url}/bugs/${ref}`);
    expect(await page.locator('.alert-claim').innerText())
      .to.include('fixer-7 is working on this')
      .and.include('min');
    expect(await page.locator('.frame.is-marked').innerText()).to.include('total.ts:41:27');

    await page.getByLabel('Add a comment').fill('Only carts with a deleted voucher.');
    await page.getByRole('button', { name: 'Comment' }).click();
    await page.getByRole('status').filter({ hasText: 'Comment added' }).waitFor();
    expect(await page.locator('.timeline').innerText())
      .to.include('deleted voucher')
      .and.include('admin');

    await page.locator('#move > summary').click();
    await page.locator('#build-resolved').fill('2.4.2');
    await page.locator('#reason-resolved').fill('Fixed by hand');
    await page.locator('#move').getByRole('button', { name: 'Resolve' }).click();
    await page.getByRole('status').filter({ hasText: 'Issue resolved' }).first().waitFor();
    expect(await page.locator('.properties').innerText())
      .to.include('Resolved')
      .and.include('2.4.2');
    expect(await web.tab.count('.alert-claim')).to.equal(0);

    await page.locator('summary[aria-label^="Account of"]').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/login/);
    await web.tab.go('/bugs');
    expect(page.url()).to.include('/login');
    expect(web.tab.faults).to.deep.equal([]);

    const body = await web.get(`/api/bugtracker/v1/bugs/${ref}`);
    expect(body['item']).to.include({ status: 'resolved', resolved_in_build: '2.4.2', claim: null });
    const activity = body['activity'] as { action: string; actor: string }[];
    const byAdmin = activity.filter(({ actor }) => actor === ADMIN_ACCOUNT.username).map(({ action }) => action);
    expect(byAdmin).to.include.members(['commented', 'forced', 'status']);
  });

  it('reports violations of the content security policy', async () => {
    await web.openTab({ username: null, path: '/login' });
    await web.page.evaluate("document.body.setAttribute('style', 'color: red')");
    await web.page.evaluate("new Image().src = 'https://example.invalid/x.png'");
    await waitUntil(
      'both are reported',
      () => /policy: style-src/.test(web.tab.faults.join()) && /policy: img-src/.test(web.tab.faults.join()),
    );
  });
});
