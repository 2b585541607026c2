/**
 * The bar at the side and the audit log in a real browser: every entry within a window of 1440×900, counts that follow on
 * every page, who did what and when. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

describe('web: the bar at the side, and the audit log', function () {
  let service: TestService;
  let browser: TestBrowser;
  let tab: Tab;
  let token: string;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here({});
    await service.project('shop');
    token = await service.token('bugtracker:report,watchdog:manage');
    browser = await launch(CHROMIUM);
    tab = await Tab.open(browser, service.url);
    await tab.signIn(ADMIN.username, ADMIN.password);
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });

  const side = 'aside.navbar-vertical';
  const main = (): Promise<string> => tab.page.getByRole('main').innerText();

  it('every entry is seen at 1440×900 without scrolling', async () => {
    await tab.go('/');
    const last = await tab.page.locator(`${side} .nav-link`).last().boundingBox();
    expect((last?.y ?? 901) + (last?.height ?? 0)).to.be.at.most(900);
    const labels = await tab.page.locator(`${side} .nav-link-title`).allInnerTexts();
    expect(labels).to.include.members(['Monitors', 'Machines', 'Audit', 'System']);
    expect(labels).not.to.include('Hierarchy').and.not.to.include('Migrations');
  });

  it('what is within an entry marks it, and is one click from its page', async () => {
    for (const [from, name, path, entry] of [
      ['/monitors', 'Hierarchy', '/hierarchy', 'Monitors'],
      ['/system', '0', '/migrations', 'System'],
    ] as const) {
      await tab.go(from);
      await tab.page.getByRole('main').locator(`a[href="${path}"]`).first().click();
      await tab.page.waitForURL(`**${path}`);
      const current = tab.page.locator(`${side} [aria-current="page"] .nav-link-title`);
      expect(await current.allInnerTexts(), name).to.deep.equal([entry]);
    }
  });

  it('counts follow on a page that does not', async () => {
    await tab.page.clock.install();
    await tab.go('/tokens');
    const badge = tab.page.locator(`${side} a[href="/bugs"] [data-badge]`);
    expect(await badge.isVisible()).to.equal(false);
    const item = { type: 'bug', project: 'shop', title: 'A voucher', severity: 'low' };
    expect((await service.request('POST', '/api/bugtracker/v1/report', token, item)).status).to.equal(201);
    await tab.page.clock.fastForward(21_000);
    await badge.waitFor({ state: 'visible' });
    expect(await badge.innerText()).to.match(/^1/);
  });

  it('the audit log: of late, by day and by person; log-ins when they are asked for', async () => {
    const made = await service.request('POST', '/api/watchdog/v1/monitors', token, { source: 'till-1' });
    expect(made.status).to.be.oneOf([200, 201]);
    await tab.go('/');
    await tab.page.locator(`${side} a[href="/audit"]`).click();
    await tab.page.waitForURL('**/audit');
    expect(await main())
      .to.contain('monitor.created')
      .and.not.contain('login.succeeded');
    await tab.page.getByRole('link', { name: 'Show log-ins' }).click();
    expect(await main()).to.contain('login.succeeded');
    await tab.page.getByRole('link', { name: 'Yesterday' }).click();
    expect(await main()).not.to.contain('monitor.created');
    await tab.page.getByRole('link', { name: 'Today' }).click();
    const by = tab.page.getByRole('row').filter({ hasText: 'monitor.created' }).locator('[data-label="By"] a');
    await by.click();
    expect(await main())
      .to.contain('monitor.created')
      .and.not.contain('login.succeeded');
    expect(await tab.go('/system/audit?actor=admin')).to.equal(200);
    expect(new URL(tab.page.url()).pathname + new URL(tab.page.url()).search).to.equal('/audit?actor=admin');
  });

  it('the event log names what each event is about', async () => {
    await tab.go('/webhooks/events');
    await tab.page
      .getByRole('row')
      .filter({ hasText: 'bug.created' })
      .getByRole('link', { name: 'shop-1 A voucher' })
      .click();
    await tab.page.waitForURL('**/bugs/shop-1');
  });
});
