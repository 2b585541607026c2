/** Pages on paper: the content alone, charts in full, and states told apart by shapes. Skipped where there is no Chromium. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

describe('web: pages on paper', function () {
  let service: TestService;
  let browser: TestBrowser;
  let tab: Tab;
  let page: Page;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here();
    await service.project('shop');
    const token = await service.token('watchdog:ping,bugtracker:report');
    for (const length of [3, 7, 5])
      await service.request('POST', '/api/watchdog/v1/ping', token, { source: 'queue', metrics: { length } });
    await service.request('POST', '/api/bugtracker/v1/report', token, { project: 'shop', title: 'A bug' });
    browser = await launch(CHROMIUM);
    tab = await Tab.open(browser, service.url, 800);
    page = tab.page;
    await tab.signIn(ADMIN.username, ADMIN.password);
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });
  beforeEach(() => page.emulateMedia({ media: 'screen' }));

  const seen = (selector: string): Promise<number> =>
    page
      .locator(selector)
      .evaluateAll(
        (all) => all.filter((one) => one.getClientRects().length > 0 && one.matches(':not(.visually-hidden)')).length,
      );

  for (const path of ['/', '/bugs?view=all', '/errors', '/monitors', '/monitors/queue', '/releases', '/licenses'])
    it(`${path}: neither controls nor navigation, and nothing is cut off`, async () => {
      await tab.go(path);
      expect(await seen('nav, header.navbar, footer'), 'on the screen').to.be.greaterThan(0);
      await page.emulateMedia({ media: 'print' });
      for (const selector of [
        '.navbar',
        'footer',
        'main button',
        'main .btn',
        'main input:not([type=hidden])',
        'main form.toolbar',
      ])
        expect(await seen(selector), selector).to.equal(0);
      expect(await seen('h1')).to.equal(1);
      const wide = await page.evaluate(
        `[...document.querySelectorAll('main svg')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length`,
      );
      expect(wide, 'charts over the edge').to.equal(0);
    });

  it('the columns of a day differ by their height', async () => {
    await tab.go('/monitors');
    const heights = await page.evaluate(`['success', 'warning', 'critical', 'none'].map((tone) => {
      const column = document.querySelector('.state-bar path');
      column.setAttribute('class', 'tone-' + tone);
      return getComputedStyle(column).strokeWidth;
    })`);
    expect(heights, 'half of which is seen').to.deep.equal(['28px', '38px', '48px', '8px']);
  });
});
