/**
 * The form of a row, which stands once on a page: by mouse, by keyboard, by touch, in two tabs, refused, and without
 * scripts. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../harness.js';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

const GROUPS = 3;

describe('web: the form of a row', function () {
  let service: TestService;
  let browser: TestBrowser;
  let tab: Tab;
  let page: Page;
  let token: string;
  const refs: string[] = [];

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
    await service.project('shop');
    token = await service.token('bugtracker:report,bugtracker:read,watchdog:ping');
    for (let i = 0; i < GROUPS; i++) {
      const answer = await service.request('POST', '/api/errors/v1/report', token, {
        project: 'shop',
        error_level: 'error',
        exception_class: `Error${'ABC'[i]}`,
        error_message: `Shelf ${'abc'[i]} is empty`,
      });
      refs.push(String(answer.body['ref']));
    }
    for (const source of ['rack', 'web-1', 'web-2'])
      await service.request('POST', '/api/watchdog/v1/ping', token, { source, interval: 3600 });
    browser = await launch(CHROMIUM);
    tab = await Tab.open(browser, service.url);
    page = tab.page;
    await tab.signIn(ADMIN.username, ADMIN.password);
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });

  const button = (of: Page, name: string): Locator => of.getByRole('button', { name, exact: true });
  const mute = (ref: string, of = page): Locator => button(of, `Mute ${ref} for a while`);
  const dialog = (of = page): Locator => of.getByRole('dialog');
  const focused = (): Promise<string> =>
    page.evaluate(`document.activeElement.getAttribute('href') ?? document.activeElement.id`);
  const muted = async (ref: string): Promise<boolean> => {
    const { body } = await service.request('GET', `/api/bugtracker/v1/bugs/${ref}`, token);
    return (body['item'] as { muted: boolean }).muted;
  };

  for (const path of ['/errors', '/bugs'])
    it(`${path}: opens beside its row by Enter or Space, names it, and gives the focus back`, async () => {
      await tab.go(path);
      for (const [ref, key] of [
        [refs[0], 'Enter'],
        [refs[1], 'Space'],
      ] as const) {
        const link = mute(ref ?? '');
        await link.focus();
        await page.keyboard.press(key);
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
        await page.keyboard.press('j');
        await page.keyboard.press('Escape');
        await dialog().waitFor({ state: 'hidden' });
        expect(await focused()).to.equal(`/ignore-rules/new?like=${ref}`);
      }
      await mute(refs[2] ?? '').click();
      await page.mouse.click(5, 5);
      await dialog().waitFor({ state: 'hidden' });
      expect(tab.faults).to.deep.equal([]);
    });

  it('the key i opens the form of a rule for the row, filled in', async () => {
    await tab.go('/errors');
    await page.keyboard.press('j');
    await page.keyboard.press('i');
    await page.waitForURL(/\/ignore-rules\/new\?like=shop-\d+$/);
    expect(await page.getByLabel('Pattern').inputValue()).to.match(/Shelf [abc] is empty/);
  });

  it('two tabs of one list mute the row of each, and no other', async () => {
    const first = await Tab.open(browser, service.url);
    await first.signIn(ADMIN.username, ADMIN.password);
    const other = await first.page.context().newPage();
    await first.go('/errors');
    await other.goto(`${service.url}/errors`);
    for (const [of, ref] of [
      [first.page, refs[0]],
      [other, refs[1]],
    ] as const) {
      // As whoever clicks in it sees it: Chromium draws a tab behind another once a second.
      await of.bringToFront();
      await mute(ref ?? '', of).click();
      await dialog(of).getByLabel('Reason').fill('The shop is told.');
    }
    for (const of of [other, first.page]) {
      await of.bringToFront();
      await dialog(of).getByRole('button', { name: 'Mute' }).click();
      await of.waitForURL(/\/ignore-rules\/[0-9a-f-]{36}/);
    }
    await until('both are muted', async () => (await muted(refs[0] ?? '')) && (await muted(refs[1] ?? '')));
    expect(await muted(refs[2] ?? '')).to.equal(false);
    await first.close();
  });

  it('without scripts the link of a row leads to the form that does the same', async () => {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      storageState: await page.context().storageState(),
    });
    const plain = await context.newPage();
    await plain.goto(`${service.url}/errors`);
    expect(await dialog(plain).count()).to.equal(0);
    await plain.getByRole('link', { name: `Mute ${refs[2]} for a while` }).click();
    expect(await plain.getByLabel('Pattern').inputValue()).to.include('Shelf c is empty');
    await plain.goto(`${service.url}/hierarchy`);
    await plain.getByRole('link', { name: 'Move web-1' }).click();
    expect(await plain.getByLabel('Parent').inputValue()).to.equal('');
    await context.close();
  });

  it('a monitor is moved from its row; a refusal comes back open beside it, with what was typed', async () => {
    await tab.go('/hierarchy');
    await button(page, 'Move web-1').click();
    await dialog().getByLabel('New parent').fill('rack');
    await dialog().getByRole('button', { name: 'Move' }).click();
    await page.getByText('web-1 is below rack.').waitFor();
    await button(page, 'Move web-1').click();
    expect(await dialog().getByLabel('New parent').inputValue()).to.equal('rack');
    await page.keyboard.press('Escape');
    await button(page, 'Move rack').click();
    expect(await dialog().getByLabel('New parent').inputValue()).to.equal('');
    await dialog().getByLabel('New parent').fill('web-1');
    await dialog().getByRole('button', { name: 'Move' }).click();
    await page.getByText('Not moved').waitFor();
    expect(await dialog().getByRole('heading').innerText()).to.equal('Move rack');
    expect(await page.evaluate(`document.querySelector('#move').matches(':modal')`)).to.equal(true);
    expect(await dialog().getByLabel('New parent').inputValue()).to.equal('web-1');
    expect(await focused()).to.equal('move-to');
    expect(await dialog().locator('.invalid-feedback').count()).to.equal(1);
  });

  it('on a phone it lies within the window, by touch', async () => {
    const phone = await browser.newContext({
      viewport: { width: 360, height: 640 },
      hasTouch: true,
      storageState: await page.context().storageState(),
    });
    const small = await phone.newPage();
    for (const [path, link] of [
      ['/errors', `Mute ${refs[2]} for a while`],
      ['/hierarchy', 'Move web-2'],
    ] as const) {
      await small.goto(service.url + path);
      await button(small, link).tap();
      const box = await dialog(small).boundingBox();
      expect(box?.x, path).to.be.at.least(0);
      expect((box?.x ?? 0) + (box?.width ?? 0), path).to.be.at.most(360);
      expect((box?.y ?? 0) + (box?.height ?? 0), path).to.be.at.most(640);
      expect(await small.evaluate('document.documentElement.scrollWidth'), path).to.equal(360);
    }
    await phone.close();
  });
});
