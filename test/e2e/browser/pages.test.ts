/**
 * Every page in a real browser, with a script and 8 KB of unbroken letters in every field: nothing
 * runs, nothing is wider than its window at 360 and 1440 pixels, and axe-core finds nothing, in
 * both themes: by its rules about colours each look of a text (looks.ts), by the others once at
 * each width, after it is seen that everything stands in both themes where it stands in one. The
 * list of pages is what is mounted, so that a new one cannot be forgotten. Skipped where there is
 * no Chromium.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { everyPage } from '../../pages/every-page.js';
import { PlantedService } from '../../pages/planted.js';
import { ADMIN_ACCOUNT } from '../../support/service.js';
import { Tab } from './chromium.js';
import { Looks, SET_THEME, THEMES, type Theme, type Violation } from './looks.js';
import { NO_PAGES } from './no-pages.js';
import { useChromium } from './use-browser.js';

const WIDTHS = [360, 1440];
const RULES = [
  'label-content-name-mismatch',
  'landmark-unique',
  'region',
  'button-name',
  'link-name',
  'label',
  'aria-valid-attr-value',
  'duplicate-id-aria',
  'heading-order',
  'image-alt',
];
/**
 * By how many pixels the page is too wide, and the innermost elements that are: as it is, and with
 * everything opened.
 */
const WIDEST = `(async () => {
  const scrolls = (one) => one !== document.body && (getComputedStyle(one).overflowX !== 'visible' || scrolls(one.parentElement));
  const tooWide = () => {
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (wide <= 0) return null;
    const over = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one.parentElement));
    const inner = over.filter((one) => ![...one.children].some((child) => over.includes(child)));
    const names = inner.slice(0, 3).map((one) => one.tagName.toLowerCase() + '.' + one.getAttribute('class') + ' in ' + one.parentElement.outerHTML.slice(0, 60));
    return wide + ' pixels wider than its window: ' + names.join(' | ');
  };
  const closed = tooWide();
  const folded = [...document.querySelectorAll('main details:not([open])')];
  if (folded.length === 0) return { closed, opened: null };
  for (const one of folded) one.open = true;
  // The page is told of it in a task of its own.
  await new Promise((done) => setTimeout(done, 0));
  const opened = tooWide();
  for (const one of folded) one.open = false;
  return { closed, opened };
})()`;

/** The colours of everything on a page, and of what is drawn by a sign of the styles. */
const COLOURS = `[...document.querySelectorAll('*')].flatMap((one) => ['', '::before', '::after'].map((part) => {
  const { color, backgroundColor, backgroundImage, borderColor, fill, stroke, boxShadow } = getComputedStyle(one, part);
  return [color, backgroundColor, backgroundImage, borderColor, fill, stroke, boxShadow].join(' ');
}))`;

/** The same two, that one first which is there. */
const beginning = <T>(all: readonly T[], one: T | undefined): readonly T[] =>
  one === all.at(-1) ? all.toReversed() : all;

/** Known before the suite runs, so that each page is a test of its own. */
const PAGES = (await everyPage()).filter(({ method, path }) => method === 'GET' && !NO_PAGES.has(path));

describe('web: every page in a real browser', () => {
  const chromium = useChromium();
  let planted: PlantedService;
  let axe: string;
  const looks = new Looks();
  let inside: Tab;
  let outside: Tab;

  before(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    planted = await PlantedService.started();
    inside = await Tab.unpainted(chromium.browser, planted.url);
    outside = await Tab.unpainted(chromium.browser, planted.url);
    // Once for each of the two: with every page it would be sent again.
    for (const tab of [inside, outside]) await tab.page.addInitScript(axe);
    // Colours that fade are judged as they are in the end.
    for (const tab of [inside, outside]) await tab.page.emulateMedia({ reducedMotion: 'reduce' });
    await inside.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
  });
  after(() => planted?.dispose());

  async function byRules(tab: Tab): Promise<Violation[]> {
    const options = JSON.stringify({ runOnly: { type: 'rule', values: RULES }, resultTypes: ['violations'] });
    return tab.page.evaluate<Violation[]>(`axe.run(document, ${options}).then((one) => one.violations)`);
  }

  const inWords = (found: readonly Violation[]): string[] =>
    found.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ target, failureSummary }) => {
        return `${id}: ${target.join(' ')} – ${failureSummary.split('\n').slice(1).join('; ').slice(0, 120)}`;
      }),
    );

  /**
   * How wide each window is: what it is already is not set again, since a change lays the whole
   * page out again.
   */
  const widths = new Map<Tab, number>();

  async function check(tab: Tab, address: string): Promise<string[]> {
    const faults: string[] = [];
    tab.faults.length = 0;
    await tab.go(address);
    for (const width of beginning(WIDTHS, widths.get(tab))) {
      if (width !== widths.get(tab)) await tab.page.setViewportSize({ width, height: 900 });
      widths.set(tab, width);
      const { still, violations } = await looks.faults(tab.page);
      if (!still) faults.push(`${width}: the themes differ in more than colours`);
      for (const [theme, violation] of violations)
        for (const one of inWords([violation])) faults.push(`${width} ${theme}: ${one}`);
      for (const one of inWords(await byRules(tab))) faults.push(`${width}: ${one}`);
      const { closed, opened } = await tab.page.evaluate<{ closed: string | null; opened: string | null }>(WIDEST);
      if (closed !== null) faults.push(`${width}: ${closed}`);
      else if (opened !== null) faults.push(`${width}, everything opened: ${opened}`);
    }
    if (await tab.page.evaluate('globalThis.owned === 1')) faults.push('a planted script ran');
    return [...faults, ...tab.faults];
  }

  it('detects insufficient contrast even if the same styles passed on another background', async () => {
    const text = (ground: string, more = ''): string =>
      `<div style="background: ${ground}; position: relative"><p style="color: #555">A text${more}</p></div>`;
    const link = '<a href="/" style="color: #545454; text-decoration: none">a link</a>';
    const found = async (...texts: string[]): Promise<string[]> => {
      await outside.page.goto('about:blank');
      await outside.page.setContent(texts.join(''));
      const { violations } = await looks.faults(outside.page, ['light']);
      return violations.map(([, { id, nodes }]) => `${id} ${nodes.length}`);
    };
    expect(await found(text('#fff'))).to.deep.equal([]);
    expect(await found(text('#fff'), text('#666'))).to.deep.equal(['color-contrast 1']);
    expect(await found(text('#fff'), text('#666'))).to.deep.equal(['color-contrast 1']);
    // Its contrast is passed where it stands alone: what is found then is asked of it as a link.
    expect(await found(text('#fff'), text('#fff', `<br>${link}`))).to.deep.equal([]);
    expect(await found(text('#fff', ` of many words before ${link}.`))).to.deep.equal(['link-in-text-block 1']);
    const boxed = `<span style="display: inline-block">${link}.</span>`;
    expect(await found(text('#fff', ` of many words before ${boxed}`))).to.deep.equal(['link-in-text-block 1']);
    const over = '<div style="position: absolute; inset: 0 0 -2rem; background: #666; z-index: -1"></div>';
    expect(await found(over, '<p style="color: #555">A text</p>')).to.deep.equal(['color-contrast 1']);
  });

  it('checks the colors of the system theme', async () => {
    const tab = await Tab.open(chromium.browser, planted.url);
    await tab.page.emulateMedia({ reducedMotion: 'reduce' });
    await tab.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
    for (const path of ['/', '/errors', '/docs/operations', '/status-page/planted']) {
      await tab.page.emulateMedia({ colorScheme: 'dark' });
      await tab.go(path);
      const colours = async (): Promise<string[]> => tab.page.evaluate<string[]>(COLOURS);
      /**
       * The system's choice changes; the script that follows it is through, where the page has one.
       */
      const choose = async (colorScheme: Theme): Promise<void> => {
        await tab.page.evaluate('delete document.documentElement.dataset.bsTheme');
        await tab.page.emulateMedia({ colorScheme });
        const follows = `(({ svcTheme, bsTheme }) => !svcTheme || bsTheme === '${colorScheme}')(document.documentElement.dataset)`;
        await waitUntil('the page follows', () => tab.page.evaluate<boolean>(follows));
      };
      const chosen: string[][] = [];
      for (const theme of THEMES) {
        await choose(theme);
        chosen.push(await colours());
      }
      expect(chosen[0]).to.not.deep.equal(chosen[1]);
      for (const [i, theme] of [...THEMES.entries()].toReversed()) {
        await choose(theme === 'light' ? 'dark' : 'light');
        await tab.page.evaluate(`(${SET_THEME})('${theme}')`);
        const differing = (await colours()).filter((one, at) => one !== chosen[i]?.[at]);
        expect(differing, `${path} ${theme}`).to.deep.equal([]);
      }
    }
    await tab.close();
  });

  for (const { path, access } of PAGES)
    it(`${path}: runs no scripts, does not overflow, and passes axe-core`, async () => {
      const address = planted.addressOf(path);
      if (!address) throw new Error('this page has no address in the planted service');
      const faults = await check(inside, address);
      if (access === 'public') faults.push(...(await check(outside, address)).map((one) => `signed out, ${one}`));
      expect(faults, faults.join('\n')).to.deep.equal([]);
    });
});
