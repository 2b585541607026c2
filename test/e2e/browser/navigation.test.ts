/**
 * The bar at the side and the audit log in a real browser: every entry within a window of 1440×900,
 * counts that follow on every page, who did what and when. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { useBrowser } from './use-browser.js';

describe('web: sidebar and audit log', () => {
  const web = useBrowser({ projects: ['shop'], scopes: 'bugtracker:report,watchdog:manage', tab: {} });

  const side = 'aside.navbar-vertical';
  const main = (): Promise<string> => web.page.getByRole('main').innerText();

  it('shows every entry at 1440×900 without scrolling', async () => {
    await web.tab.go('/');
    const last = await web.page.locator(`${side} .nav-link`).last().boundingBox();
    expect((last?.y ?? 901) + (last?.height ?? 0)).to.be.at.most(900);
    const labels = await web.page.locator(`${side} .nav-link-title`).allInnerTexts();
    expect(labels).to.include.members(['Monitors', 'Machines', 'Audit log', 'System']);
    expect(labels).not.to.include('Hierarchy').and.not.to.include('Migrations');
  });

  it('highlights the entry of the current page, which is one click away', async () => {
    for (const [from, name, path, entry] of [
      ['/monitors', 'Hierarchy', '/hierarchy', 'Monitors'],
      ['/system', '0', '/migrations', 'System'],
    ] as const) {
      await web.tab.go(from);
      await web.page.getByRole('main').locator(`a[href="${path}"]`).first().click();
      await web.page.waitForURL(`**${path}`);
      const current = web.page.locator(`${side} [aria-current="page"] .nav-link-title`);
      expect(await current.allInnerTexts(), name).to.deep.equal([entry]);
    }
  });

  it('updates counts on a page without live updates', async () => {
    await web.page.clock.install();
    await web.tab.go('/tokens');
    const badge = web.page.locator(`${side} a[href="/bugs"] [data-badge]`);
    expect(await badge.isVisible()).to.equal(false);
    await web.reportBug('shop', 'A voucher', { severity: 'low' });
    await web.page.clock.fastForward(21_000);
    await badge.waitFor({ state: 'visible' });
    expect(await badge.innerText()).to.match(/^1/);
  });

  it('shows recent audit log entries by day and user, and logins on request', async () => {
    await web.post('/api/watchdog/v1/monitors', { source: 'till-1' });
    await web.tab.go('/');
    await web.page.locator(`${side} a[href="/audit"]`).click();
    await web.page.waitForURL('**/audit');
    expect(await main())
      .to.contain('Created monitor')
      .and.not.contain('Signed in');
    await web.page.getByRole('link', { name: 'Show sign-ins' }).click();
    expect(await main()).to.contain('Signed in');
    await web.page.getByRole('link', { name: 'Yesterday' }).click();
    expect(await main()).not.to.contain('Created monitor');
    await web.page.getByRole('link', { name: 'Today' }).click();
    const by = web.page.getByRole('row').filter({ hasText: 'Created monitor' }).locator('[data-label="Actor"] a');
    await by.click();
    expect(await main())
      .to.contain('Created monitor')
      .and.not.contain('Signed in');
    expect(await web.tab.go('/system/audit?actor=admin')).to.equal(200);
    expect(new URL(web.page.url()).pathname + new URL(web.page.url()).search).to.equal('/audit?actor=admin');
  });

  it('names the subject of each event in the event log', async () => {
    await web.tab.go('/webhooks/events');
    await web.page
      .getByRole('row')
      .filter({ hasText: 'bug.created' })
      .getByRole('link', { name: 'shop-1 A voucher' })
      .click();
    await web.page.waitForURL('**/bugs/shop-1');
  });
});
