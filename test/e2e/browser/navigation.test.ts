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
    expect(await web.page.locator(`${side} .nav-link-title`).allInnerTexts()).to.deep.equal([
      'Home',
      'Issues',
      'Agents',
      'Monitors',
      'Releases',
      'Machines',
      'Licenses',
      'Status pages',
      'Settings',
      'Help',
    ]);
  });

  it('highlights the entry of the current page, which is one click away', async () => {
    for (const [from, nav, path, entry] of [
      ['/monitors', 'Monitors pages', '/hierarchy', 'Monitors'],
      ['/bugs', 'Issues pages', '/errors', 'Issues'],
      ['/users', 'Settings', '/migrations', 'Settings'],
    ] as const) {
      await web.tab.go(from);
      const inner = web.page.getByRole('navigation', { name: nav, exact: true });
      await inner.locator(`a[href="${path}"]`).click();
      await web.page.waitForURL(`**${path}`);
      const current = web.page.locator(`${side} [aria-current="page"] .nav-link-title`);
      expect(await current.allInnerTexts(), path).to.deep.equal([entry]);
      expect(await inner.locator('[aria-current="page"]').getAttribute('href')).to.equal(path);
    }
  });

  it('opens the docs, the API and the keyboard shortcuts from Help', async () => {
    await web.tab.go('/');
    const help = web.page.locator(`${side} details.nav-help`);
    await help.locator('summary').click();
    expect(await help.getByRole('link').allInnerTexts()).to.deep.equal(['Docs', 'API']);
    expect(await help.innerText()).to.contain('AOS ');
    await help.getByRole('button', { name: /Keyboard shortcuts/ }).click();
    await web.page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await web.page.keyboard.press('Escape');
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
    await web.page.locator(`${side} a[href="/settings"]`).click();
    await web.page.waitForURL('**/users');
    await web.page.locator('.settings-nav a[href="/audit"]').click();
    await web.page.waitForURL('**/audit');
    expect(await main())
      .to.contain('created monitor till-1')
      .and.not.contain('admin signed in');
    await web.page.getByRole('link', { name: 'Show sign-ins' }).click();
    await web.page.waitForURL(/logins=true/);
    expect(await main()).to.contain('admin signed in');
    await web.page.getByRole('link', { name: 'Yesterday' }).click();
    expect(await main()).not.to.contain('created monitor till-1');
    await web.page.getByRole('link', { name: 'Today' }).click();
    const by = web.page
      .getByRole('row')
      .filter({ hasText: 'created monitor till-1' })
      .locator('[data-label="Actor"] a');
    await by.click();
    expect(await main())
      .to.contain('created monitor till-1')
      .and.not.contain('admin signed in');
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
