/**
 * Forms and paper in a real browser: what is made once, what an ended session keeps, what a tick
 * means, what is printed.
 */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { waitUntil } from '../../harness.js';
import { WebSession } from '../../pages/web-session.js';
import { ADMIN_ACCOUNT } from '../../support/service.js';
import { useBrowser } from './use-browser.js';

describe('web: forms in a real browser', () => {
  const web = useBrowser({ projects: ['shop'], scopes: 'bugtracker:report,bugtracker:manage' });

  const opened = async (path: string): Promise<Page> => (await web.openTab({ path })).page;

  it('creates no second item on reload, and shows that the secret was already displayed', async () => {
    const page = await opened('/tokens/new');
    await page.getByLabel('Name', { exact: true }).fill('reloaded');
    await page.getByLabel('bugtracker:report').first().check();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('Copy this').waitFor();
    await page.reload();
    await page.getByText('This secret was already shown').waitFor();
    await page.getByRole('link', { name: 'Continue' }).click();
    expect(await page.getByRole('cell', { name: 'reloaded' }).count()).to.equal(1);
  });

  it('preserves a comment when the session has expired, and sends it after sign-in', async () => {
    const ref = await web.reportError('shop', 'a comment is being written');
    const page = await opened(`/bugs/${ref}`);
    await page.getByLabel('Add a comment').fill('An hour of thought,\nand <b>two</b> lines.');
    const other = new WebSession(web.url);
    expect(await other.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password)).to.equal(303);
    const ends = [...(await other.get('/account')).text.matchAll(/action="(\/account\/sessions\/\w+\/end)"/g)];
    // The newest is its own.
    for (const [, end = ''] of ends.slice(1)) await other.post(end, {}, '/account');
    await page.getByRole('button', { name: 'Add comment' }).click();
    await page.getByText('Your session has ended').waitFor();
    await page.getByText('An hour of thought').waitFor();
    await page.getByLabel(/^User ?name/).fill(ADMIN_ACCOUNT.username);
    await page.getByLabel('Password').fill(ADMIN_ACCOUNT.password);
    await page.getByRole('button', { name: 'Sign in and submit' }).click();
    await page.getByText('Comment added').waitFor();
    const { items } = await web.get<{ items: { body: string }[] }>(`/api/bugtracker/v1/bugs/${ref}/comments`);
    const written = items.map((comment) => comment.body);
    expect(written).to.deep.equal(['An hour of thought,\nand <b>two</b> lines.']);
  });

  it('clears "all events" when a single event is checked', async () => {
    const page = await opened('/webhooks/new');
    await page.getByLabel('Name', { exact: true }).fill('chat');
    await page.getByLabel('URL', { exact: true }).fill('https://receiver.example.org/hooks');
    await page.getByRole('checkbox', { name: /bug\.created$/ }).check();
    expect(await page.getByRole('checkbox', { name: /^All events/ }).isChecked()).to.equal(false);
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByText('Copy this').waitFor();
    const about = page.locator('section', { has: page.getByRole('heading', { name: 'About' }) });
    expect(await about.textContent())
      .to.include('bug.created')
      .and.not.include('all events');
  });

  it('updates the counts in the sidebar together with a live list', async () => {
    await web.reportError('shop', 'the first of the list');
    const page = await opened('/errors');
    const counts = async (): Promise<string> => (await page.locator('aside [data-badge]').allTextContents()).join();
    const was = await counts();
    for (const name of ['cart', 'mail', 'print']) await web.reportError('shop', `${name} has stopped for good`);
    await waitUntil('other counts', async () => (await counts()) !== was);
  });

  it('hides the sidebar in print, in portrait and landscape', async () => {
    const ref = await web.reportError('shop', 'is printed');
    const page = await opened(`/bugs/${ref}`);
    await page.emulateMedia({ media: 'print' });
    for (const width of [794, 1123]) {
      await page.setViewportSize({ width, height: 800 });
      const left = await page.locator('main h1').evaluate((title) => title.getBoundingClientRect().left);
      expect(left, `${width}`).to.be.lessThan(60);
      for (const gone of ['aside', 'header.navbar', 'footer', 'main .btn'])
        expect(await page.locator(gone).first().isVisible(), `${gone} at ${width}`).to.equal(false);
    }
  });
});
