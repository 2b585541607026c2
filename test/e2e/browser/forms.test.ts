/** Forms and paper in a real browser: what is made once, what an ended session keeps, what a tick means, what is printed. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../../harness.js';
import { WebSession } from '../../pages/web-session.js';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

describe('web: forms in a real browser', function () {
  let service: TestService;
  let browser: TestBrowser;
  let token: string;
  let tab: Tab | undefined;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
    await service.project('shop');
    token = await service.token('bugtracker:report,bugtracker:manage');
    browser = await launch(CHROMIUM);
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });
  afterEach(async () => {
    await tab?.close();
    tab = undefined;
  });

  async function opened(path: string): Promise<Page> {
    tab = await Tab.open(browser, service.url);
    await tab.signIn(ADMIN.username, ADMIN.password);
    await tab.go(path);
    return tab.page;
  }
  const failed = async (message: string): Promise<string> => {
    const body = { project: 'shop', error_level: 'error', exception_class: 'TypeError', error_message: message };
    return String((await service.request('POST', '/api/errors/v1/report', token, body)).body['ref']);
  };

  it('a reload of what was created creates nothing, and says that the secret was shown', async () => {
    const page = await opened('/tokens/new');
    await page.getByLabel('Name', { exact: true }).fill('reloaded');
    await page.getByLabel('bugtracker:report').first().check();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('Shown this once').waitFor();
    await page.reload();
    await page.getByText('It was shown once').waitFor();
    await page.getByRole('link', { name: 'Go on' }).click();
    expect(await page.getByRole('cell', { name: 'reloaded' }).count()).to.equal(1);
  });

  it('a session that ended keeps the comment: signing in sends it', async () => {
    const ref = await failed('a comment is being written');
    const page = await opened(`/bugs/${ref}`);
    await page.getByLabel('Add a comment').fill('An hour of thought,\nand <b>two</b> lines.');
    const other = new WebSession(service.url);
    expect(await other.signIn(ADMIN.username, ADMIN.password)).to.equal(303);
    const ends = [...(await other.get('/account')).text.matchAll(/action="(\/account\/sessions\/\w+\/end)"/g)];
    // The newest is its own.
    for (const [, end = ''] of ends.slice(1)) await other.post(end, {}, '/account');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByText('Your session has ended').waitFor();
    await page.getByText('An hour of thought').waitFor();
    await page.getByLabel('User name').fill(ADMIN.username);
    await page.getByLabel('Password').fill(ADMIN.password);
    await page.getByRole('button', { name: 'Sign in and send' }).click();
    await page.getByText('Comment added.').waitFor();
    const { body } = await service.request('GET', `/api/bugtracker/v1/bugs/${ref}/comments`, token);
    const written = (body['items'] as { body: string }[]).map((comment) => comment.body);
    expect(written).to.deep.equal(['An hour of thought,\nand <b>two</b> lines.']);
  });

  it('single events that are ticked take the place of "all events"', async () => {
    const page = await opened('/webhooks/new');
    await page.getByLabel('Name', { exact: true }).fill('chat');
    await page.getByLabel('URL', { exact: true }).fill('https://receiver.example.org/hooks');
    await page.getByRole('checkbox', { name: /^bug\.created/ }).check();
    expect(await page.getByRole('checkbox', { name: /^All events/ }).isChecked()).to.equal(false);
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByText('Shown this once').waitFor();
    const about = page.locator('section', { has: page.getByRole('heading', { name: 'About' }) });
    expect(await about.textContent())
      .to.include('bug.created')
      .and.not.include('all events');
  });

  it('the counts of the sidebar move with a list that follows', async () => {
    await failed('the first of the list');
    const page = await opened('/errors');
    const counts = async (): Promise<string> => (await page.locator('aside [data-badge]').allTextContents()).join();
    const was = await counts();
    for (const name of ['cart', 'mail', 'print']) await failed(`${name} has stopped for good`);
    await until('other counts', async () => (await counts()) !== was);
  });

  it('on paper there is no sidebar over the text, upright and across', async () => {
    const ref = await failed('is printed');
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
