/**
 * The form of a row, which stands once on a page: by mouse, by keyboard, by touch, in two tabs,
 * refused, and without scripts. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { waitUntil } from '../../harness.js';
import { useBrowser } from './use-browser.js';

const GROUPS = 3;

describe('web: row dialogs', () => {
  const refs: string[] = [];

  const web = useBrowser({
    projects: ['shop'],
    scopes: 'bugtracker:report,bugtracker:read,watchdog:ping',
    tab: {},
    prepare: async () => {
      for (let i = 0; i < GROUPS; i++) {
        const exception_class = `Error${'ABC'[i]}`;
        refs.push(await web.reportError('shop', `Shelf ${'abc'[i]} is empty`, { exception_class }));
      }
      for (const source of ['rack', 'web-1', 'web-2'])
        await web.post('/api/watchdog/v1/ping', { source, interval: 3600 });
    },
  });

  const button = (of: Page, name: string): Locator => of.getByRole('button', { name, exact: true });
  const mute = (ref: string, of = web.page): Locator => button(of, `Mute ${ref} for a while`);
  const dialog = (of = web.page): Locator => of.getByRole('dialog');
  const openMenu = (of: Page, source: string): Promise<void> =>
    of.locator(`summary[aria-label="Actions of ${source}"]`).click();
  const focused = (): Promise<string> =>
    web.page.evaluate(`document.activeElement.getAttribute('href') ?? document.activeElement.id`);
  const muted = async (ref: string): Promise<boolean> => (await web.getItem(ref))['muted'] === true;

  for (const path of ['/errors', '/bugs'])
    it(`${path}: opens next to its row by Enter or Space, names the row, and restores the focus`, async () => {
      await web.tab.go(path);
      for (const [ref, key] of [
        [refs[0], 'Enter'],
        [refs[1], 'Space'],
      ] as const) {
        const link = mute(ref ?? '');
        await link.focus();
        await web.page.keyboard.press(key);
        await dialog().waitFor();
        expect(await dialog().getAttribute('aria-labelledby')).to.equal('mute-title');
        expect(await dialog().getByRole('heading').innerText()).to.equal(`Mute ${ref}`);
        expect(await focused()).to.equal('mute-for');
        const more = dialog().getByRole('link', { name: 'More…' });
        expect(await more.getAttribute('href')).to.match(new RegExp(`/ignore-rules/new\\?like=${ref}$`));
        const [at, box] = [await link.boundingBox(), await dialog().boundingBox()];
        expect((box?.x ?? 0) + (box?.width ?? 0)).to.be.at.most((at?.x ?? 0) + (at?.width ?? 0) + 1);
        expect(Math.abs((box?.y ?? 0) - ((at?.y ?? 0) + (at?.height ?? 0)))).to.be.at.most(5);
        // No shortcut reaches what lies below.
        await dialog().getByRole('button', { name: 'Mute' }).focus();
        await web.page.keyboard.press('j');
        await web.page.keyboard.press('Escape');
        await dialog().waitFor({ state: 'hidden' });
        expect(await focused()).to.equal(`/ignore-rules/new?like=${ref}`);
      }
      await mute(refs[2] ?? '').click();
      await web.page.mouse.click(5, 5);
      await dialog().waitFor({ state: 'hidden' });
      expect(web.tab.faults).to.deep.equal([]);
    });

  it('opens the prefilled rule form of a row by the key i', async () => {
    await web.tab.go('/errors');
    await web.page.keyboard.press('j');
    await web.page.keyboard.press('i');
    await web.page.waitForURL(/\/ignore-rules\/new\?like=shop-\d+$/);
    expect(await web.page.getByLabel('Pattern').inputValue()).to.match(/Shelf [abc] is empty/);
  });

  it('mutes only the selected row in each of two tabs', async () => {
    const first = await web.openPage({});
    const other = await first.context().newPage();
    await first.goto(`${web.url}/errors`);
    await other.goto(`${web.url}/errors`);
    for (const [of, ref] of [
      [first, refs[0]],
      [other, refs[1]],
    ] as const) {
      // As anyone who clicks in it sees it: Chromium draws a tab behind another once a second.
      await of.bringToFront();
      await mute(ref ?? '', of).click();
      await dialog(of).getByLabel('Reason').fill('The shop is told.');
    }
    for (const of of [other, first]) {
      await of.bringToFront();
      await dialog(of).getByRole('button', { name: 'Mute' }).click();
      await of.getByRole('status').filter({ hasText: 'Muted until' }).first().waitFor();
    }
    await waitUntil('both are muted', async () => (await muted(refs[0] ?? '')) && (await muted(refs[1] ?? '')));
    expect(await muted(refs[2] ?? '')).to.equal(false);
  });

  it('links the row to an equivalent form when scripts are disabled', async () => {
    const plain = await web.openPage({ javaScriptEnabled: false });
    await plain.goto(`${web.url}/errors`);
    expect(await dialog(plain).count()).to.equal(0);
    await plain.getByRole('link', { name: `Mute ${refs[2]} for a while` }).click();
    expect(await plain.getByLabel('Pattern').inputValue()).to.include('Shelf c is empty');
    await plain.goto(`${web.url}/hierarchy`);
    await openMenu(plain, 'web-1');
    await plain.getByRole('link', { name: 'Move web-1' }).click();
    expect(await plain.getByLabel('Parent').inputValue()).to.equal('');
  });

  it('moves a monitor from its row, and reopens the form with the error and the input', async () => {
    await web.tab.go('/hierarchy');
    await openMenu(web.page, 'web-1');
    await button(web.page, 'Move web-1').click();
    await dialog().getByLabel('New parent').fill('rack');
    await dialog().getByRole('button', { name: 'Move' }).click();
    await web.page.getByText('web-1 is below rack.').waitFor();
    await openMenu(web.page, 'web-1');
    await button(web.page, 'Move web-1').click();
    expect(await dialog().getByLabel('New parent').inputValue()).to.equal('rack');
    await web.page.keyboard.press('Escape');
    await openMenu(web.page, 'rack');
    await button(web.page, 'Move rack').click();
    expect(await dialog().getByLabel('New parent').inputValue()).to.equal('');
    await dialog().getByLabel('New parent').fill('web-1');
    await dialog().getByRole('button', { name: 'Move' }).click();
    await web.page.getByText('Not moved').waitFor();
    expect(await dialog().getByRole('heading').innerText()).to.equal('Move rack');
    expect(await web.page.evaluate(`document.querySelector('#move').matches(':modal')`)).to.equal(true);
    expect(await dialog().getByLabel('New parent').inputValue()).to.equal('web-1');
    expect(await focused()).to.equal('move-to');
    expect(await dialog().locator('.invalid-feedback').count()).to.equal(1);
  });

  it('fits a phone screen and works by touch', async () => {
    const small = await web.openPage({ viewport: { width: 360, height: 640 }, hasTouch: true });
    for (const [path, link, menu] of [
      ['/errors', `Mute ${refs[2]} for a while`, null],
      ['/hierarchy', 'Move web-2', 'web-2'],
    ] as const) {
      await small.goto(web.url + path);
      if (menu !== null) await openMenu(small, menu);
      await button(small, link).tap();
      const box = await dialog(small).boundingBox();
      expect(box?.x, path).to.be.at.least(0);
      expect((box?.x ?? 0) + (box?.width ?? 0), path).to.be.at.most(360);
      expect((box?.y ?? 0) + (box?.height ?? 0), path).to.be.at.most(640);
      expect(await small.evaluate('document.documentElement.scrollWidth'), path).to.equal(360);
    }
  });
});
