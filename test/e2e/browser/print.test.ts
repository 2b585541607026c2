/**
 * Pages on paper: the content alone, charts in full, and states told apart by shapes. Skipped where
 * there is no Chromium.
 */
import { expect } from 'chai';
import { useBrowser } from './use-browser.js';

describe('web: printed pages', () => {
  const web = useBrowser({
    projects: ['shop'],
    scopes: 'watchdog:ping,bugtracker:report',
    tab: { width: 800 },
    prepare: async () => {
      for (const length of [3, 7, 5]) await web.post('/api/watchdog/v1/ping', { source: 'queue', metrics: { length } });
      await web.reportBug('shop', 'A bug');
    },
  });
  beforeEach(() => web.page.emulateMedia({ media: 'screen' }));

  const seen = (selector: string): Promise<number> =>
    web.page
      .locator(selector)
      .evaluateAll(
        (all) => all.filter((one) => one.getClientRects().length > 0 && one.matches(':not(.visually-hidden)')).length,
      );

  for (const path of ['/', '/bugs?view=all', '/errors', '/monitors', '/monitors/queue', '/releases', '/licenses'])
    it(`${path}: prints no controls and no navigation, and cuts nothing off`, async () => {
      await web.tab.go(path);
      expect(await seen('nav, header.navbar, footer'), 'on the screen').to.be.greaterThan(0);
      await web.page.emulateMedia({ media: 'print' });
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
      const wide = await web.page.evaluate(
        `[...document.querySelectorAll('main svg')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length`,
      );
      expect(wide, 'charts over the edge').to.equal(0);
    });

  it('prints daily columns with different heights', async () => {
    await web.tab.go('/monitors');
    const heights = await web.page.evaluate(`['success', 'warning', 'critical', 'none'].map((tone) => {
      const column = document.querySelector('.state-bar path');
      column.setAttribute('class', 'tone-' + tone);
      return getComputedStyle(column).strokeWidth;
    })`);
    expect(heights, 'half of which is seen').to.deep.equal(['28px', '38px', '48px', '8px']);
  });
});
