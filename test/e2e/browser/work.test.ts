/**
 * People at work on errors and bugs, in a real browser against the real service: by keyboard, with
 * many items at once, with counters that move by themselves, and all of it without scripts too.
 * Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { waitUntil } from '../../harness.js';
import { useBrowser } from './use-browser.js';

const STACK = [
  'TypeError: no price',
  '    at totalOf (/srv/shop/src/total.ts:41:27)',
  '    at handle (/srv/shop/node_modules/express/lib/layer.js:95:5)',
  '    at next (/srv/shop/node_modules/express/lib/route.js:149:13)',
  '    at serve (/srv/shop/src/serve.ts:3:4)',
].join('\n');

describe('web: work on errors and bugs in a real browser', () => {
  const web = useBrowser({
    projects: ['shop', 'bulk', 'live', 'plain'],
    scopes: 'bugtracker:report,bugtracker:manage',
  });

  const error = (project: string, message: string, fields: object = {}): Promise<string> =>
    web.reportError(project, message, { environment: 'production', ...fields });
  const said = (page: Page, text: string): Promise<void> =>
    page.getByRole('status').filter({ hasText: text }).first().waitFor();

  it('handles rows by the keys j, k, x, o, e, / and ?, but not in a text field', async () => {
    const [first, second] = [await error('shop', 'one by key'), await error('shop', 'two by key')];
    const { page } = await web.openTab();
    await web.tab.go('/bugs?project=shop&q=by+key');
    const current = page.locator('tr.is-current');
    await page.keyboard.press('j');
    expect(await current.getAttribute('data-ref')).to.equal(second);
    await page.keyboard.press('j');
    expect(await current.getAttribute('data-ref')).to.equal(first);
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await current.getAttribute('data-ref')).to.equal(second);
    await page.keyboard.press('x');
    expect(await page.locator('[data-bulk-count]').innerText()).to.equal('1 selected');
    await page.keyboard.press('e');
    expect(await page.locator('#bulk-action').inputValue()).to.equal('status:resolved');
    expect(await page.locator('#bulk-action').evaluate((one) => one === one.ownerDocument.activeElement)).to.equal(
      true,
    );

    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('jxo?e');
    expect(await page.locator('#f-q').inputValue()).to.equal('jxo?e');
    expect(await page.locator('dialog.keys[open]').count()).to.equal(0);
    await page.keyboard.press('Escape');

    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    expect(await dialog.innerText())
      .to.include('Next or previous row')
      .and.include('Select row')
      .and.include('Search');
    await page.keyboard.press('x');
    expect(await page.locator('input[name=ids]:checked').count()).to.equal(1);
    await page.getByLabel('Enable single-key shortcuts').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('k');
    await page.keyboard.press('x');
    expect(await page.locator('input[name=ids]:checked').count()).to.equal(1);
    await web.tab.go('/bugs?project=shop&q=by+key');
    await page.keyboard.press('j');
    expect(await current.count()).to.equal(0);
    await page.keyboard.press('?');
    await page.getByLabel('Enable single-key shortcuts').check();
    await page.keyboard.press('Escape');

    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.waitForURL(`**/bugs/${second}`);
    await page.keyboard.press('e');
    expect(await page.locator('#build-resolved').evaluate((one) => one === one.ownerDocument.activeElement)).to.equal(
      true,
    );
    await page.keyboard.type('2.4.2');
    await page.keyboard.press('Enter');
    await said(page, 'Issue resolved');
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.waitForURL('**/errors');
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('previews a bulk change, and reports with 207 which items could not be changed', async () => {
    const refs = [await error('bulk', 'first of three'), await error('bulk', 'second'), await error('bulk', 'third')];
    await web.post(`/api/bugtracker/v1/bugs/${refs[1]}/claim`, { agent: 'fixer-7' });
    const { page } = await web.openTab();
    await web.tab.go('/bugs?project=bulk');
    await page.getByLabel('Select all on this page').check();
    await page.getByLabel('Action', { exact: true }).selectOption('status:wont_fix');
    await page.getByRole('button', { name: 'Apply' }).click();
    expect(await page.locator('h1').innerText()).to.equal('Mark as won’t fix 3 issues?');
    expect(await page.locator('main').innerText())
      .to.include('first of three')
      .and.include('fixer-7 is working on this')
      .and.include('never reopen them');
    await page.getByRole('textbox', { name: 'Reason' }).fill('as designed');
    const [response] = await Promise.all([
      page.waitForResponse((answer) => answer.request().method() === 'POST'),
      page.getByRole('button', { name: 'Mark as won’t fix 3 issues' }).click(),
    ]);
    expect(response.status()).to.equal(207);
    await said(page, '2 issues marked as won’t fix; 1 of 3 failed.');
    expect(await page.locator('tbody tr').first().innerText())
      .to.include(refs[1])
      .and.include('Another agent holds a live lease');
    expect(await web.getItem(refs[0] ?? '')).to.include({ status: 'wont_fix', reason: 'as designed' });
    expect(await web.getItem(refs[1] ?? '')).to.include({ status: 'in_progress' });

    await page.getByRole('button', { name: 'Retry 1 issue' }).click();
    await page.getByRole('textbox', { name: 'Reason' }).fill('the agent is gone');
    await page.getByLabel('Override 1 claimed issue').check();
    await page.getByRole('button', { name: 'Mark as won’t fix 1 issue' }).click();
    await said(page, '1 issue marked as won’t fix');
    expect(page.url()).to.include('/bugs?project=bulk');
    expect(await web.getItem(refs[1] ?? '')).to.include({ status: 'wont_fix', claim: null });
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('updates counters without moving rows, and sends no requests while the tab is hidden', async () => {
    const ref = await error('live', 'counted live');
    await error('live', 'stands above it');
    const { page } = await web.openTab();
    await page.clock.install();
    const requested: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/errors/live')) requested.push(request.url());
    });
    await web.tab.go('/errors?project=live');
    const row = page.locator(`tr[data-ref="${ref}"]`);
    const order = (): Promise<(string | null)[]> =>
      page.locator('tr[data-ref]').evaluateAll((rows) => rows.map((one) => one.getAttribute('data-ref')));
    const before = await order();
    expect(await row.locator('[data-field=hits]').innerText()).to.equal('1');

    await error('live', 'counted live');
    const fresh = await error('live', 'a new group');
    await page.clock.runFor(4100);
    await waitUntil('the counter moved', async () => (await row.locator('[data-field=hits]').innerText()) === '2');
    expect(await order()).to.deep.equal(before);
    const more = page.locator('[data-live-more]');
    expect(await more.innerText()).to.equal('1 new – show');

    await page.getByRole('button', { name: 'Live', exact: true }).click();
    expect(await page.locator('[data-live-switch]').innerText()).to.include('Paused');
    const paused = requested.length;
    await page.clock.runFor(120_000);
    expect(requested).to.have.length(paused);
    await page.locator('[data-live-switch]').click();
    await waitUntil('it asks again', () => requested.length > paused);

    const visibility = (state: string): Promise<unknown> =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await visibility('hidden');
    const hidden = requested.length;
    await page.clock.runFor(120_000);
    expect(requested).to.have.length(hidden);
    await visibility('visible');
    await waitUntil('it asks as soon as it is seen', () => requested.length > hidden);

    await more.click();
    expect((await order())[0]).to.equal(fresh);
    expect(web.tab.faults).to.deep.equal([]);
    await web.tab.discard();
  });

  it('opens a prefilled rule with “ignore like this”, from the list and from the item', async () => {
    const ref = await error('shop', "order 'A-4711' has no lines");
    const { page } = await web.openTab();
    await web.tab.go(`/bugs/${ref}`);
    await page.locator('main summary', { hasText: 'Mute' }).click();
    await page.getByRole('link', { name: 'Mute similar' }).click();
    expect(await page.getByLabel('Pattern').inputValue()).to.equal('TypeError: order .* has no lines');
    expect(await page.getByRole('radio', { name: 'Regular expression' }).isChecked()).to.equal(true);
    expect(await page.locator('#f-project').inputValue()).to.equal('shop');
    await web.tab.go('/errors?q=has+no+lines');
    await page.keyboard.press('j');
    await page.keyboard.press('i');
    await page.waitForURL('**/ignore-rules/new?**');
    expect(await page.getByLabel('Pattern').inputValue()).to.equal('TypeError: order .* has no lines');
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('highlights the first frame of a trace, folds library frames, and shows breadcrumbs as a timeline', async () => {
    const at = new Date().toISOString();
    const ref = await error('shop', 'no price in this cart', {
      stack_trace: STACK,
      context: { user: { plan: 'business' } },
      breadcrumbs: [{ timestamp: at, category: 'http', data: { method: 'POST', url: '/pay', status_code: 500 } }],
    });
    const { page } = await web.openTab();
    await web.tab.go(`/bugs/${ref}`);
    expect(await page.locator('.frame.is-marked').innerText())
      .to.include('totalOf')
      .and.include('total.ts:41:27')
      .and.include('first frame');
    const folded = page.locator('.frame', { hasText: 'route.js' });
    expect(await folded.isVisible()).to.equal(false);
    await page.locator('summary', { hasText: '2 library frames: express' }).click();
    expect(await folded.isVisible()).to.equal(true);
    await page.locator('summary', { hasText: 'Raw text' }).click();
    expect(await page.locator('.trace-line.is-marked').innerText()).to.include('at totalOf');
    expect(await page.locator('.crumb-list').innerText()).to.include('POST /pay → 500');
    expect(await page.locator('section[aria-labelledby="occurrences"]').innerText()).to.include('business');
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('supports filters, bulk changes, views, merge and split without scripts', async () => {
    const kept = await error('plain', 'the one that stays');
    const other = await error('plain', 'the other');
    const { page } = await web.openTab({ scripts: false });
    await page.goto(`${web.url}/bugs`);
    await page.getByRole('search', { name: 'Issues' }).locator('summary', { hasText: 'Project' }).click();
    await page.getByRole('checkbox', { name: /^plain/ }).check();
    await page.getByRole('button', { name: 'Filter' }).click();
    expect(await page.getByRole('group', { name: 'Active filters' }).innerText()).to.include('plain');
    expect(await page.locator('tr[data-ref]').count()).to.equal(2);

    await page.locator('summary', { hasText: 'Views' }).click();
    await page.getByLabel('View name').fill('Plain things');
    await page.getByRole('button', { name: 'Save view' }).click();
    expect(await page.locator('.quick-views a[aria-current]').innerText()).to.include('Plain things');

    await page.locator('input[name=scope][value=filter]').check();
    await page.getByLabel('Action', { exact: true }).selectOption('severity:low');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Set severity to low for 2 issues' }).click();
    await said(page, '2 issues set to low');
    expect(await web.getItem(kept)).to.include({ severity: 'low', severity_locked: true });

    await page.goto(`${web.url}/bugs/${other}`);
    await page.locator('#more > summary').click();
    await page.locator('#merge > summary').click();
    await page.getByLabel('Merge into').fill('stays');
    await page.getByRole('button', { name: 'Search issues' }).click();
    await page.getByRole('radio').check();
    await page.getByRole('button', { name: `Merge ${other} into selected` }).click();
    await said(page, 'Issues merged');
    expect(await page.locator('.alert-info').first().innerText()).to.include(kept);
    await page.goto(`${web.url}/bugs/${kept}`);
    expect(await page.locator('section', { hasText: 'Duplicates' }).last().innerText()).to.include(other);
    await page.getByRole('button', { name: 'Split off' }).click();
    await said(page, `${other} split off and reopened`);
    expect(await web.getItem(other)).to.include({ status: 'open', duplicate_of: null });

    await page.goto(`${web.url}/bugs`);
    await page.locator('summary', { hasText: 'Views' }).click();
    await page.getByRole('button', { name: 'Remove the view' }).click();
    await said(page, 'View removed');
    expect(await page.locator('.saved-view').count()).to.equal(0);
  });

  it('ignores requests without a session or a form token', async () => {
    const ref = await error('shop', 'stays as it is');
    for (const path of [
      `/bugs/${ref}/status`,
      `/bugs/${ref}/merge`,
      '/bugs/bulk',
      '/bugs/bulk/confirm',
      '/bugs/views',
    ]) {
      const answer = await fetch(web.url + path, {
        method: 'POST',
        body: new URLSearchParams({ status: 'closed' }),
      });
      expect(answer.status, path).to.equal(401);
    }
    for (const path of ['/errors/live?since=2026-01-01T00:00:00.000Z', '/bugs/live?since=2026-01-01T00:00:00.000Z']) {
      const answer = await fetch(web.url + path, { headers: { accept: 'application/json' } });
      expect(answer.status, path).to.equal(401);
    }
    const { page } = await web.openTab();
    await web.tab.go('/account');
    const status = await page.evaluate(
      `fetch('/bugs/${ref}/status', { method: 'POST', body: new URLSearchParams({ status: 'closed' }) }).then((a) => a.status)`,
    );
    expect(status).to.equal(403);
    expect(await web.getItem(ref)).to.include({ status: 'open' });
  });
});
