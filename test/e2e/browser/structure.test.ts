/**
 * How every page is laid out, at five widths, by a real browser: what is cut off, lies over
 * another, or scrolls sideways. In an empty store, with long names, emoji and both directions of
 * writing, and with a million of everything that is counted. Where text has both directions, each
 * in Hebrew or Arabic stands in an element with `dir="auto"`, so that it moves nothing beside it,
 * and times are in their longest form (contract 80, look). The list of pages is what is mounted.
 * Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { everyPage } from '../../pages/every-page.js';
import { PlantedService, WRITTEN } from '../../pages/planted.js';
import { ADMIN_ACCOUNT, TestService } from '../../support/service.js';
import { Tab } from './chromium.js';
import { NO_PAGES } from './no-pages.js';
import { SHOWS_TEXT, SIDES, type Sides } from './sides.js';
import { MEASURE, MILLION } from './structure.js';
import { useChromium } from './use-browser.js';

const WIDTHS = [360, 390, 768, 1024, 1440];
const PAGES = (await everyPage()).filter(({ method, path }) => method === 'GET' && !NO_PAGES.has(path));

describe('web: layout of every page', () => {
  const chromium = useChromium();
  let tab: Tab;

  async function enter(url: string): Promise<void> {
    tab = await Tab.unpainted(chromium.browser, url);
    // Once, not with each of a thousand questions.
    await tab.page.addInitScript(`globalThis.measured = () => ${MEASURE}`);
    await tab.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
  }

  const measured = async (widths = WIDTHS): Promise<string[]> => {
    const faults: string[] = [];
    for (const width of widths) {
      await tab.page.setViewportSize({ width, height: 800 });
      for (const fault of await tab.page.evaluate<string[]>('measured()')) faults.push(`${width}: ${fault}`);
    }
    return faults;
  };

  describe('in an empty store', () => {
    let service: TestService;
    before(async () => {
      service = await TestService.createInProcess();
      await enter(service.url);
    });
    after(async () => {
      await tab?.discard();
      await service?.dispose();
    });

    for (const { path } of PAGES.filter((page) => !page.path.includes('{')))
      it(`has no layout error on the empty ${path}`, async () => {
        await tab.go(path);
        expect(await measured()).to.deep.equal([]);
      });
  });

  describe('with long names, emoji and both writing directions, then with counts of a million', () => {
    let planted: PlantedService;
    before(async () => {
      planted = await PlantedService.started({}, WRITTEN);
      await enter(planted.url);
      const clock = { timezone: 'Asia/Kathmandu', hours: '12' };
      expect((await planted.admin.post('/account/clock', clock, '/account')).status).to.equal(303);
    });
    after(async () => {
      await tab?.discard();
      await planted?.dispose();
    });

    const hebrew = /[\u0590-\u05ff]+/.exec(WRITTEN)?.[0] ?? '';
    for (const { path } of PAGES)
      it(`has no layout error on ${path}`, async () => {
        const address = planted.addressOf(path);
        if (!address) throw new Error('this page has no address in the planted service');
        await tab.go(path === '/search' ? `/search?q=${encodeURIComponent(hebrew)}` : address);
        const { seen, faults } = await tab.page.evaluate<Sides>(SIDES);
        expect(faults, faults.slice(0, 5).join('\n')).to.deep.equal([]);
        if (SHOWS_TEXT.has(path)) expect(seen, 'texts in these letters').to.be.above(0);
        expect(await measured()).to.deep.equal([]);
        await tab.page.evaluate(MILLION);
        // The other way round: the window has this width already.
        const counted = (await measured(WIDTHS.toReversed())).map((fault) => `a million, ${fault}`);
        expect(counted).to.deep.equal([]);
      });

    it('isolates the text direction in the list of the search box', async () => {
      const painted = await Tab.open(chromium.browser, planted.url);
      await painted.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
      await painted.go('/');
      await painted.page.keyboard.press('Control+k');
      await painted.page.keyboard.insertText(hebrew);
      await painted.page.locator('.search-hit').first().waitFor();
      const sides = await painted.page.locator('.search-title').evaluateAll((all) => all.map((one) => one.dir));
      await painted.close();
      expect(sides.length).to.be.above(1);
      expect(new Set(sides)).to.deep.equal(new Set(['auto']));
    });
  });

  it('detects layout errors', async () => {
    tab = await Tab.open(chromium.browser, 'about:blank', 360);
    await tab.page.setContent(`<body style="margin: 0">
      <p style="width: 9rem; overflow: hidden; white-space: nowrap">A line that is cut off without a sign</p>
      <p style="width: 9rem; overflow: hidden; white-space: nowrap; text-overflow: ellipsis">A line that ends with its sign</p>
      <details><summary>Closed</summary><p style="width: 99rem">wide</p></details>
      <div style="position: relative; height: 3rem"><a href="#" style="position: absolute; left: 0">one link</a><button style="position: absolute; left: 1rem">one button</button></div>
      <p style="width: 30rem">too wide</p></body>`);
    const faults = await tab.page.evaluate<string[]>(MEASURE);
    expect(faults.map((fault) => fault.replace(/[:“].*/, '').trim())).to.deep.equal([
      'scrolls sideways by 120',
      'is cut off',
      'lie over one another',
    ]);
    await tab.close();
  });
});
