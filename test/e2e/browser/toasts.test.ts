/**
 * The message about the last action in a real browser: it moves nothing, closes by itself or by a
 * key, waits while it is used, takes the action back; and a pressed button is busy. Skipped where
 * there is no Chromium.
 */
import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { waitUntil } from '../../harness.js';
import { useBrowser } from './use-browser.js';

const SHOWN_MS = 8_000;

describe('web: toasts', () => {
  let ref: string;
  const web = useBrowser({
    projects: ['shop'],
    scopes: 'bugtracker:report,bugtracker:manage',
    prepare: async () => {
      ref = await web.reportBug('shop', 'The cart loses lines');
    },
  });

  const toast = (): Locator => web.page.locator('[data-flash] [data-toast]');
  const status = async (): Promise<unknown> => (await web.getItem(ref))['status'];

  /** Closes the only item from the list, and waits for the toast. */
  async function closeItem(): Promise<void> {
    await web.call('PATCH', `/api/bugtracker/v1/bugs/${ref}`, { status: 'open' });
    await web.tab.go('/bugs');
    await web.page.locator('tbody input[name="ids"]').first().click();
    await web.page.locator('form[data-bulk] select[name="action"]').selectOption('status:closed');
    await web.page.locator('form[data-bulk]').getByRole('button', { name: 'Apply' }).click();
    await toast().waitFor();
  }

  for (const width of [1440, 360])
    it(`lies over the page at the bottom and moves nothing at ${width} pixels`, async () => {
      await web.openTab({ width });
      await closeItem();
      const top = await web.page.locator('main h1').boundingBox();
      const box = await toast().boundingBox();
      const height = web.page.viewportSize()?.height ?? 0;
      expect((box?.y ?? 0) + (box?.height ?? 0)).to.be.within(height - 40, height);
      expect(await web.tab.overflow()).to.equal(0);
      await web.page.getByRole('button', { name: 'Close message' }).click();
      await toast().waitFor({ state: 'detached' });
      expect(await web.page.locator('main h1').boundingBox()).to.deep.equal(top);
      expect(web.tab.faults).to.deep.equal([]);
    });

  it('takes the action back by its button and by the key z', async () => {
    await web.openTab();
    await closeItem();
    expect(await status()).to.equal('closed');
    await toast().getByRole('button', { name: 'Undo' }).click();
    await waitUntil('the item is open again', async () => (await status()) === 'open');
    await closeItem();
    await web.page.keyboard.press('z');
    await waitUntil('the item is open again', async () => (await status()) === 'open');
  });

  it('closes by Escape, and by itself after eight seconds without pointer and focus', async () => {
    await web.openTab();
    await closeItem();
    await web.page.keyboard.press('Escape');
    await toast().waitFor({ state: 'detached' });

    await web.page.clock.install();
    await closeItem();
    await toast().hover();
    await web.page.clock.fastForward(SHOWN_MS * 2);
    expect(await toast().count(), 'under the pointer').to.equal(1);
    await toast().getByRole('button', { name: 'Undo' }).focus();
    await web.page.mouse.move(1, 1);
    await web.page.clock.fastForward(SHOWN_MS * 2);
    expect(await toast().count(), 'with the focus').to.equal(1);
    await web.page.locator('main').focus();
    await web.page.clock.runFor(SHOWN_MS + 500);
    await toast().waitFor({ state: 'detached' });
  });

  it('stays as a strip without scripts', async () => {
    await web.openTab({ scripts: false });
    await web.tab.go('/account');
    const form = web.page.locator('form', { has: web.page.getByLabel('Time zone') });
    await form.getByLabel('Time zone').fill('Asia/Tokyo');
    await form.getByRole('button', { name: 'Save' }).click();
    await toast().waitFor();
    const { width = 0, x } = (await toast().boundingBox()) ?? {};
    expect([x, width]).to.deep.equal([0, web.page.viewportSize()?.width]);
    expect(await web.page.getByRole('button', { name: 'Close message' }).count()).to.equal(0);
  });

  it('makes a pressed button busy and sends its form once', async () => {
    await web.openTab();
    await web.tab.go('/bugs/new');
    let sent = 0;
    await web.page.route('**/bugs/new', async (route) => {
      if (route.request().method() === 'POST') sent++;
      await route.continue();
    });
    await web.page.locator('#f-project').selectOption('shop');
    await web.page.locator('#f-type').selectOption('bug');
    await web.page.locator('#f-title').fill('Two clicks, one item');
    // A page that is about to be left answers no more questions: it notes what it saw.
    await web.page.evaluate(`(() => {
      const button = document.querySelector('main form[action="/bugs/new"] button[type="submit"]');
      const note = () => sessionStorage.setItem('busy', button.getAttribute('aria-busy') + ' ' + button.disabled);
      new MutationObserver(note).observe(button, { attributes: true });
      button.form.requestSubmit(button);
      button.form.requestSubmit(button);
    })()`);
    await web.page.waitForURL(/\/bugs\/shop-\d+$/);
    expect(await web.page.evaluate("sessionStorage.getItem('busy')")).to.equal('true true');
    expect(sent).to.equal(1);
  });
});
