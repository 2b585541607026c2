/**
 * What somebody on call does with a phone (360 by 740 pixels), each begun on the dashboard, by taps
 * alone (typing does not count): fewer than five each. Rows of lists have two lines there, and are
 * one link. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { waitUntil } from '../../harness.js';
import { ADMIN_ACCOUNT, SHARED_KEY } from '../../support/service.js';
import { useBrowser } from './use-browser.js';

const MOST_TAPS = 4;
const SCOPES = 'bugtracker:report,bugtracker:manage,watchdog:ping,watchdog:manage,license:manage,updateservice:publish';

describe('web: on call with a phone', () => {
  let ref: string;
  let shelf: string;
  let key = '';
  let page: Page;
  let taps = 0;
  const machine = (name: string): object => {
    return { license_key: key, product: 'shop', machine_id: `machine-of-${name}`, machine_name: name };
  };

  const web = useBrowser({
    projects: ['shop'],
    scopes: SCOPES,
    prepare: async () => {
      const cart = 'The voucher of this customer is not valid for a cart that holds goods of several branches';
      const voucher = { error_level: 'fatal', exception_class: 'acme.checkout.VoucherError' };
      ref = await web.reportError('shop', cart, voucher);
      shelf = await web.reportError('shop', 'The shelf is empty', { exception_class: 'acme.stock.ShelfError' });
      await web.post('/api/watchdog/v1/ping', { source: 'queue', interval: 0.05, metrics: { length: 7 } });
      const license = { product: 'shop', licensee: 'Kettleworth', max_activations: 1, require_approval: true };
      await web.post('/api/license/v1/licenses', license);
      // Another, whose second machine waits.
      const other = await web.post('/api/license/v1/licenses', { ...license, licensee: 'Brandt' });
      const { id } = other['license'] as { id: string };
      await web.post(`/api/license/v1/licenses/${id}/approve`);
      key = String(other['key']);
      for (const name of ['till-1', 'till-2'])
        await web.service.request('POST', '/api/license/v1/validate', null, machine(name));
      await web.post('/api/watchdog/v1/monitors', { source: 'till-1', project: 'shop' });
      await web.post('/api/watchdog/v1/ping', { source: 'till-1', interval: 60_000, app_version: '1.4.0' });
      await web.publish('shop', '1.4.0');
      await web.waitForMonitorDown();
    },
  });
  before(async () => {
    const viewport = { width: 360, height: 740 };
    page = await (await web.browser.newContext({ viewport, hasTouch: true, isMobile: true })).newPage();
    await page.goto(`${web.url}/login`);
    await page.getByLabel(/^User ?name/).fill(ADMIN_ACCOUNT.username);
    await page.getByLabel('Password').fill(ADMIN_ACCOUNT.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${web.url}/`);
  });
  beforeEach(async () => {
    taps = 0;
    await page.goto(web.url);
  });
  afterEach(() => expect(taps).to.be.at.most(MOST_TAPS));

  const tap = async (what: Locator): Promise<void> => {
    taps++;
    await what.first().tap();
    await page.waitForLoadState();
  };
  const main = (): Locator => page.getByRole('main');

  it('finds failing monitors on the dashboard', async () => {
    await main().getByText('1 monitor down').first().waitFor();
    expect(await main().getByRole('link', { name: 'queue' }).count()).to.be.greaterThan(0);
    expect(taps).to.equal(0);
  });

  it('acknowledges an incident with one tap on the dashboard, and shows others who acknowledged it', async () => {
    await tap(main().getByRole('button', { name: /^Acknowledge *: queue$/ }));
    await main().getByText(`${ADMIN_ACCOUNT.username} acknowledged`).waitFor();
    const { body } = await web.service.request('GET', '/api/watchdog/v1/incidents?open=true', SHARED_KEY);
    expect(body['items']).to.have.length(1);
    expect((body['items'] as object[])[0]).to.include({ source: 'queue', acknowledged_by: ADMIN_ACCOUNT.username });
    expect(taps).to.equal(1);
  });

  it('comments on the incident with three taps', async () => {
    await tap(main().getByRole('link', { name: 'queue' }));
    await tap(main().locator('.on-it a[href^="/incidents/"]'));
    await page.getByLabel('Comment', { exact: true }).fill('I am looking at it.');
    await tap(page.getByRole('button', { name: 'Add comment' }));
    await main().getByText('I am looking at it.').waitFor();
    expect(taps).to.equal(3);
  });

  it('silences the incident with three taps', async () => {
    await tap(main().getByRole('link', { name: 'queue' }));
    await tap(main().locator('summary', { hasText: 'Silence' }));
    await tap(page.getByRole('button', { name: 'Silence for 1 hour' }));
    await page.getByText(/Silenced until/).waitFor();
    expect(taps).to.equal(3);
  });

  it('assigns an item with two taps', async () => {
    await tap(main().locator(`.panel-row a[href="/bugs/${ref}"]`));
    await tap(page.getByRole('button', { name: 'Assign to me' }));
    await waitUntil('it is mine', async () => {
      return (await web.getItem(ref))['assignee'] === ADMIN_ACCOUNT.username;
    });
    await page.getByRole('button', { name: 'Unassign' }).waitFor();
    expect(taps).to.equal(2);
  });

  it('halts a rollout with three taps, from the card of the newest release', async () => {
    await tap(
      main()
        .locator('.rollout-head')
        .getByRole('link', { name: /^shop 1\.4\.0/ }),
    );
    await tap(main().locator('summary', { hasText: 'Halt rollout' }));
    await page.locator('#reason-halt').fill('It loses carts');
    await tap(page.getByRole('button', { name: 'Halt rollout' }));
    await page.getByText('It loses carts').first().waitFor();
    const requested = `${web.url}/api/updateservice/v1/check?product=shop&channel=stable&platform=any&version=1.3.0`;
    expect(await (await fetch(requested)).text()).not.to.contain('"1.4.0"');
    expect(taps).to.equal(3);
  });

  it('approves a license with four taps', async () => {
    await tap(page.getByLabel('Navigation'));
    await tap(page.getByRole('navigation', { name: 'Main, small screen' }).getByRole('link', { name: /^Licenses/ }));
    await tap(main().getByRole('link', { name: /^Approvals/ }));
    const waiting = main().locator('section[aria-labelledby="pending-licenses"]');
    await tap(waiting.getByRole('button', { name: /^Approve/ }));
    await page
      .getByText(/approved/i)
      .first()
      .waitFor();
    expect(taps).to.equal(4);
  });

  it('approves a machine with four taps', async () => {
    await tap(page.getByLabel('Navigation'));
    await tap(page.getByRole('navigation', { name: 'Main, small screen' }).getByRole('link', { name: /^Licenses/ }));
    await tap(main().getByRole('link', { name: /^Approvals/ }));
    const waiting = main().locator('section[aria-labelledby="pending-machines"]');
    await tap(waiting.locator('tr', { hasText: 'till-2' }).getByRole('button', { name: 'Approve', exact: true }));
    await page.getByText('till-2').waitFor({ state: 'detached' });
    const answer = await web.service.request('POST', '/api/license/v1/validate', null, machine('till-2'));
    expect(answer.body).to.include({ valid: true });
    expect(taps).to.equal(4);
  });

  it('changes the theme in the menu with two taps', async () => {
    await tap(page.getByLabel(`Account of ${ADMIN_ACCOUNT.username}`));
    await tap(page.getByRole('button', { name: 'Dark theme' }));
    await page.locator('html[data-svc-theme="dark"]').waitFor({ state: 'attached' });
    expect(taps).to.equal(2);
  });

  for (const [path, most] of [
    ['/bugs?view=all', 64],
    ['/errors', 76],
    ['/monitors', 76],
  ] as const)
    it(`${path}: shows two-line rows that are links across their whole area`, async () => {
      await page.goto(web.url + path);
      const row = main().locator('tbody tr').first();
      // A page that follows the service may replace the row while it is measured.
      let box = await row.boundingBox();
      await waitUntil('the row is laid out', async () => (box ??= await row.boundingBox()) !== null);
      if (box === null) throw new Error('there is no row');
      expect(box.height).to.be.at.most(most);
      const leads = await row.locator('.cell-main > a').getAttribute('href');
      await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height - 12);
      await page.waitForURL(`${web.url}${leads}`);
    });

  it('mutes a group temporarily from its row in the queue with four taps', async () => {
    await tap(page.getByLabel('Navigation'));
    await tap(page.getByRole('navigation', { name: 'Main, small screen' }).getByRole('link', { name: /^Issues/ }));
    await tap(main().locator(`tr[data-ref="${shelf}"] .cell-actions a`));
    const menu = page.getByRole('dialog', { name: `Mute ${shelf}` });
    expect(await menu.evaluate((one) => one.getBoundingClientRect().right)).to.be.at.most(360);
    await menu.getByLabel('Reason').fill('The shop is told.');
    await tap(menu.getByRole('button', { name: 'Mute', exact: true }));
    await waitUntil('the item is muted', async () => {
      return (await web.getItem(shelf))['muted'] === true;
    });
    expect(taps).to.equal(4);
  });

  it('excludes buttons within a row from the row’s link', async () => {
    await page.goto(`${web.url}/bugs?view=all`);
    await main().locator('tbody input[name="ids"]').first().tap();
    expect(await main().locator('tbody input[name="ids"]').first().isChecked()).to.equal(true);
    await page.goto(`${web.url}/errors`);
    await tap(main().locator('.cell-actions a'));
    await page.getByLabel('Reason').fill('People mistype.');
    await tap(page.getByRole('button', { name: 'Mute', exact: true }));
    await page.getByRole('status').filter({ hasText: 'Muted' }).first().waitFor();
    expect(page.url()).to.include('/errors');
  });
});
