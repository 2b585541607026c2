/**
 * Every page with Hebrew and Arabic in every field that takes text: each such text stands in an element with `dir="auto"`,
 * so that it moves nothing beside it, and times in their longest form fit (contract 80, look). Code and raw traces go from left to right. Skipped where there is
 * no Chromium.
 */
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { everyPage } from '../pages/every-page.js';
import { PlantedService } from '../pages/planted.js';
import { ADMIN } from '../support/service.js';
import { CHROMIUM, launch, Tab } from './chromium.js';

const TEXT = 'תקלה בתשלום — فشل الدفع';
/** Pages that show what somebody wrote, where a text that is not shown at all would go unseen. */
const SHOWS = new Set([
  '/',
  '/bugs',
  '/bugs/{ref}',
  '/errors',
  '/monitors',
  '/monitors/{source}',
  '/projects/{slug}',
  '/search',
]);
const NO_HTML = /\.(csv|xml|atom|svg|css|txt)$|\/live$|\/logo$|\{file\}$|^\/resume/;

/** Where a text of such letters stands in no element with a side, and in which the fields take none. */
const FAULTS = `(() => {
  const letters = /[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc]/;
  const where = (one) => one.tagName.toLowerCase() + '.' + one.className + ' in ' + one.parentElement.outerHTML.slice(0, 160);
  const faults = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement: one, data } = walker.currentNode;
    if (!letters.test(data)) continue;
    seen += 1;
    if (!one.closest('[dir="auto"], code, pre, script, svg')) faults.push(where(one));
  }
  for (const one of document.querySelectorAll('input[type="text"], input[type="search"], textarea'))
    if (letters.test(one.value) && one.dir !== 'auto' && !one.matches('.font-monospace')) faults.push('value of ' + where(one));
  return { seen, faults };
})()`;

const PAGES = (await everyPage()).filter(({ method, path }) => method === 'GET' && !NO_HTML.test(path));

describe('web: right-to-left text', function () {
  this.timeout(120_000);
  let planted: PlantedService;
  let browser: Browser;
  let tab: Tab;
  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    planted = await PlantedService.started({}, TEXT);
    browser = await launch(CHROMIUM);
    tab = await Tab.open(browser, planted.url);
    await tab.signIn(ADMIN.username, ADMIN.password);
    // The longest times there are.
    const clock = { timezone: 'Asia/Kathmandu', hours: '12' };
    expect((await planted.admin.post('/account/clock', clock, '/account')).status).to.equal(303);
  });
  after(async () => {
    await browser?.close();
    await planted?.dispose();
  });

  for (const { path } of PAGES)
    it(`${path}: is isolated, and nothing overflows`, async () => {
      const address = planted.addressOf(path);
      if (!address) throw new Error('this page has no address in the planted service');
      await tab.go(path === '/search' ? `/search?q=${encodeURIComponent('תקלה')}` : address);
      const { seen, faults } = await tab.page.evaluate<{ seen: number; faults: string[] }>(FAULTS);
      expect(faults, faults.slice(0, 5).join('\n')).to.deep.equal([]);
      for (const width of [360, 1440]) {
        await tab.page.setViewportSize({ width, height: 900 });
        expect(await tab.overflow(), `${width} pixels`).to.equal(0);
      }
      if (SHOWS.has(path)) expect(seen, 'texts in these letters').to.be.above(0);
    });

  it('in the list of the search box too', async () => {
    await tab.go('/');
    await tab.page.keyboard.press('Control+k');
    await tab.page.keyboard.insertText('תקלה');
    await tab.page.locator('.search-hit').first().waitFor();
    const sides = await tab.page.locator('.search-title').evaluateAll((all) => all.map((one) => one.dir));
    expect(sides.length).to.be.above(1);
    expect(new Set(sides)).to.deep.equal(new Set(['auto']));
  });
});
