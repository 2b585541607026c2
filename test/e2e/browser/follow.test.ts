/**
 * Pages that follow by themselves, in a real browser against two processes' worth of writers: the
 * API here, people there.
 */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useBrowser } from './use-browser.js';

describe('web: live updates', () => {
  const web = useBrowser({ projects: ['shop'], scopes: 'bugtracker:report,watchdog:ping' });

  async function opened(path: string): Promise<Page> {
    await web.openTab({ path });
    await web.page.locator('[data-follow="on"]').waitFor();
    return web.page;
  }

  it('updates the dashboard without a reload', async () => {
    await web.reportError('shop', 'the first one', { error_level: 'fatal', exception_class: 'TypeError' });
    const page = await opened('/');
    await page.evaluate('window.kept = true');
    // Of another class: alike ones are folded into one row.
    await web.reportError('shop', 'came while somebody looked', {
      error_level: 'fatal',
      exception_class: 'RangeError',
    });
    await page
      .locator('#panel-bugs\\.attention', { hasText: 'came while somebody looked' })
      .waitFor({ timeout: 60_000 });
    expect(await page.evaluate('window.kept')).to.equal(true);
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('updates the list of monitors, except a focused field', async () => {
    const beat = (source: string, status: string) =>
      web.post('/api/watchdog/v1/ping', { source, status, interval: 3600 });
    await beat('web-1', 'ok');
    const page = await opened('/monitors');
    await page.locator('#f-q').fill('typing');
    await beat('web-1', 'warning');
    await page.locator('tr', { hasText: 'web-1' }).filter({ hasText: 'warning' }).waitFor({ timeout: 60_000 });
    expect(await page.locator('#f-q').inputValue()).to.equal('typing');
  });

  it('updates state, reason and charts on a monitor page', async () => {
    const beat = (more: object) =>
      web.post('/api/watchdog/v1/ping', { source: 'queue@hall/2', interval: 3600, ...more });
    await beat({ metrics: { length: 7 } });
    const page = await opened(`/monitors/${encodeURIComponent('queue@hall/2')}`);
    await page.evaluate('window.kept = true');
    await beat({ metrics: { length: 9 }, checks: { redis: { ok: false, message: 'No answer to PING' } } });
    await page.locator('.monitor-now', { hasText: 'No answer to PING' }).waitFor({ timeout: 60_000 });
    expect(await page.evaluate('window.kept')).to.equal(true);
    // A chart that came again is read out as the first was.
    await page.getByRole('slider', { name: /^length/ }).waitFor();
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('does not update a chart under the pointer until the pointer leaves the chart', async () => {
    const beat = (length: number, message: string) => {
      const checks = { redis: { ok: false, message } };
      const body = { source: 'read', interval: 3600, metrics: { length }, checks };
      return web.post('/api/watchdog/v1/ping', body);
    };
    // The alert is there from the beginning: one that comes would move the chart away from under
    // the pointer.
    await beat(7, 'No answer to PING');
    const page = await opened('/monitors/read');
    const [chart, read] = [page.getByRole('slider', { name: /^length/ }), page.locator('.series-read')];
    await chart.hover();
    await beat(9, 'None again');
    await page.locator('.monitor-now', { hasText: 'None again' }).waitFor({ timeout: 60_000 });
    expect(await read.isVisible()).to.equal(true);
    expect(await read.innerText()).to.include('7');
    await page.mouse.move(0, 0);
    await beat(11, 'Still none');
    await page.locator('.monitor-now', { hasText: 'Still none' }).waitFor({ timeout: 60_000 });
    await read.waitFor({ state: 'hidden' });
    await page.locator('[data-points*=",11"]').waitFor();
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('stops updating when the session ends in another tab', async () => {
    const page = await opened('/');
    const cookies = await page.context().cookies();
    const other = await web.browser.newContext();
    await other.addCookies(cookies);
    const second = await other.newPage();
    await second.goto(web.url);
    await second.locator('summary[aria-label^="Account of"]').click();
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.waitForURL(/\/login/);
    await page.locator('[data-follow="off"]', { hasText: 'Reconnecting' }).waitFor({ timeout: 60_000 });
    await other.close();
  });
});
