/**
 * The pages of bugs, errors, ignore rules and notifications as people meet them in a real browser: planted texts that move no
 * layout, phones, confirmations and forms without scripts. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { until } from '../../harness.js';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

const LETTERS = 'W'.repeat(8192);
const SCRIPT = '<script>document.title = "owned"</script><img src=x onerror=alert(1)>';
/** Unbroken, as long as the field takes it, with a script at its end. */
const planted = (most: number): string => `${LETTERS.slice(0, most - SCRIPT.length)}${SCRIPT}`;

describe('web: pages of errors and bugs as people meet them', function () {
  this.timeout(180_000);
  let service: TestService;
  let browser: TestBrowser;
  let token: string;
  let tab: Tab | undefined;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
    for (const slug of ['shop', 'planted', 'phone']) await service.project(slug);
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

  async function call(method: string, path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await service.request(method, path, token, body);
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 201]);
    return answer.body;
  }
  const report = async (body: object): Promise<string> =>
    String((await call('POST', '/api/bugtracker/v1/report', { project: 'shop', ...body }))['ref']);
  const item = async (ref: string): Promise<Record<string, unknown>> =>
    (await service.request('GET', `/api/bugtracker/v1/bugs/${ref}`, token)).body['item'] as Record<string, unknown>;

  async function signedIn(width = 1440): Promise<{ tab: Tab; page: Page }> {
    tab = await Tab.open(browser, service.url, width);
    await tab.signIn(ADMIN.username, ADMIN.password);
    return { tab, page: tab.page };
  }

  async function scriptless(): Promise<{ context: BrowserContext; page: Page }> {
    const plain = await Tab.scriptless(browser, service.url);
    await plain.signIn(ADMIN.username, ADMIN.password);
    return { context: plain.page.context(), page: plain.page };
  }

  /** An error with such a text in every field, worked on by people and agents with such texts. */
  async function plant(): Promise<{ ref: string; rule: string; channel: string }> {
    const text = planted(8192);
    const body = {
      project: 'planted',
      error_level: 'error',
      error_message: text,
      exception_class: planted(200),
      file: planted(1000),
      line: 7,
      stack_trace: `${text}\n    at ${planted(4000)} (/srv/${LETTERS.slice(0, 900)}.js:1:2)\n    at run (/srv/a.js:3:4)`,
      environment: planted(200),
      app_version: planted(200),
      commit_sha: planted(200),
      repo_url: `https://${LETTERS.slice(0, 400)}`,
      host: planted(200),
      tags: Array.from({ length: 32 }, (_, i) => `${i}${planted(190)}`),
      context: { [text.slice(0, 4000)]: text, deep: { deeper: { [planted(300)]: [text] } } },
      breadcrumbs: [{ category: planted(500), level: 'error', message: text, data: { [planted(200)]: text } }],
    };
    const ref = String((await call('POST', '/api/errors/v1/report', body))['ref']);
    await call('POST', '/api/errors/v1/report', { ...body, error_message: text, host: 'w' });
    const path = `/api/bugtracker/v1/bugs/${ref}`;
    await call('PATCH', path, {
      description: text,
      target_agent: planted(200),
      reason: planted(4000),
      pr_url: `https://x.example/${LETTERS.slice(0, 400)}`,
    });
    await call('POST', `${path}/comments`, { body: planted(16_000) });
    await call('POST', `${path}/claim`, { agent: planted(200) });
    const rule = (
      await call('POST', '/api/errors/v1/ignore-rules', {
        name: planted(200),
        match_type: 'contains',
        pattern: planted(500),
        reason: planted(1000),
        environment: planted(200),
        project: 'planted',
      })
    )['rule'] as { id: string };
    const { context, page } = await scriptless();
    await page.goto(`${service.url}/notifications/new`);
    await page.getByRole('link', { name: 'Slack, Mattermost or Discord' }).click();
    await page.getByLabel('Name', { exact: true }).fill(planted(100));
    await page.getByLabel('Webhook URL').fill(`https://hooks.example/${LETTERS.slice(0, 1500)}`);
    await page.getByRole('button', { name: 'Create channel' }).click();
    const channel = page.url().split('/').at(-1) ?? '';
    expect(channel, await page.locator('main').innerText()).to.match(/^[0-9a-f-]{36}$/);
    await page.goto(`${service.url}/bugs?project=planted`);
    await page.locator('summary', { hasText: 'Views' }).click();
    await page.getByLabel('Name of the view').fill(planted(80));
    await page.getByRole('button', { name: 'Save view' }).click();
    await context.close();
    return { ref, rule: rule.id, channel };
  }

  it('no text from outside moves a layout, and none of it runs', async () => {
    const { ref, rule, channel } = await plant();
    const paths = [
      '/bugs?view=all',
      `/bugs?q=${LETTERS.slice(0, 450)}&tag=${LETTERS.slice(0, 150)}&view=all`,
      `/bugs/${ref}`,
      `/bugs/${ref}?find=${LETTERS.slice(0, 400)}`,
      `/bugs/${ref}/alike`,
      '/bugs/new',
      '/errors?muted=any',
      '/ignore-rules',
      `/ignore-rules/${rule}`,
      `/ignore-rules/${rule}?apply=ask`,
      `/ignore-rules/${rule}/edit`,
      `/ignore-rules/new?match_type=contains&pattern=${LETTERS.slice(0, 500)}&name=${LETTERS.slice(0, 200)}`,
      '/notifications',
      `/notifications/${channel}`,
      `/notifications/${channel}/edit`,
    ];
    for (const width of [360, 1440]) {
      const { tab: mine, page } = await signedIn(width);
      for (const path of paths) {
        expect(await mine.go(path), path).to.equal(200);
        // What is folded is part of the page too.
        await page.evaluate("document.querySelectorAll('main details').forEach((one) => (one.open = true))");
        expect(await mine.overflow(), `${path} at ${width}`).to.equal(0);
        expect(await page.title(), path).to.not.equal('owned');
      }
      expect(mine.faults).to.deep.equal([]);
      await mine.close();
      tab = undefined;
    }
  });

  it('on a phone the first row stands within the first screen, and the status button follows', async () => {
    for (let i = 0; i < 3; i++) {
      await call('POST', '/api/errors/v1/report', {
        project: 'phone',
        error_level: 'error',
        error_message: `cache number ${'abc'.charAt(i).repeat(4)} timed out while it was asked for the basket`,
        tags: ['checkout'],
      });
    }
    const { tab: mine, page } = await signedIn(360);
    await page.setViewportSize({ width: 360, height: 640 });
    for (const path of ['/bugs', '/bugs?project=phone&status=open&severity=high', '/errors', '/ignore-rules']) {
      await mine.go(path);
      const bottom = await page
        .locator('tbody tr')
        .first()
        .evaluate((row) => row.getBoundingClientRect().bottom);
      expect(bottom, path).to.be.at.most(640);
    }
    await mine.go('/bugs');
    expect(await page.locator('.toolbar-folds').isVisible()).to.equal(false);
    await page.locator('.toolbar-label').click();
    expect(await page.locator('.toolbar-folds').isVisible()).to.equal(true);

    await mine.go('/bugs/phone-1');
    const button = page.locator('.item-bar').getByRole('link', { name: 'Change status' });
    for (const top of [0, 400, 100_000]) {
      await page.evaluate(`scrollTo(0, ${top})`);
      expect(await button.isVisible()).to.equal(true);
      const box = await button.boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0), `scrolled to ${top}`).to.be.at.most(640);
    }
    await button.click();
    // The heading ends up between the bars, once the page has come to rest.
    await until('the heading is on the screen', async () => {
      const top = await page.locator('#move').evaluate((title) => title.getBoundingClientRect().top);
      return top > 40 && top < 600;
    });
  });

  it('a confirmation has a Cancel that closes it, with scripts and without', async () => {
    const made = (
      await call('POST', '/api/errors/v1/ignore-rules', { match_type: 'contains', pattern: 'x y z', reason: 'r' })
    )['rule'] as { id: string };
    const path = `/ignore-rules/${made.id}`;
    const { tab: mine, page } = await signedIn();
    await mine.go(path);
    const menu = page.locator('details.confirm').filter({ hasText: 'Delete' });
    await menu.locator('summary').click();
    await menu.getByRole('link', { name: 'Cancel' }).click();
    expect(await menu.getAttribute('open')).to.equal(null);
    expect(await menu.locator('summary').evaluate((one) => one === one.ownerDocument.activeElement)).to.equal(true);

    const { context, page: plain } = await scriptless();
    await plain.goto(service.url + path);
    const folded = plain.locator('details.confirm').filter({ hasText: 'Delete' });
    await folded.locator('summary').click();
    await folded.getByRole('link', { name: 'Cancel' }).click();
    expect(await folded.getAttribute('open')).to.equal(null);
    expect(plain.url()).to.equal(service.url + path);
    await context.close();
  });

  it('a person makes an item, takes it, closes it, undoes that and goes on to the next: without scripts', async () => {
    const older = await report({ title: 'The older one' });
    const { context, page } = await scriptless();
    await page.goto(`${service.url}/bugs`);
    await page.getByRole('link', { name: 'New', exact: true }).click();
    await page.locator('#f-project').selectOption('shop');
    await page.getByLabel('Title').fill('Prices are rounded twice');
    await page.getByLabel('Description').fill('Buy three of one.');
    await page.getByLabel('Tags').fill('prices, cart');
    await page.getByRole('button', { name: 'Report it' }).click();
    const ref = page.url().split('/').at(-1) ?? '';
    expect(await item(ref)).to.deep.include({ source: 'ui', status: 'open', tags: ['prices', 'cart'], assignee: null });
    await page.getByRole('button', { name: 'I take it' }).click();
    expect((await item(ref))['assignee']).to.equal(ADMIN.username);
    await page.locator('summary', { hasText: 'Close' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    expect((await item(ref))['status']).to.equal('closed');
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await item(ref)).to.include({ status: 'open', closed_at: null });
    await page.getByRole('button', { name: 'Give it back' }).click();
    expect((await item(ref))['assignee']).to.equal(null);
    await page.getByRole('link', { name: 'Next', exact: true }).first().click();
    expect(page.url()).to.equal(`${service.url}/bugs/${older}`);
    await context.close();
  });

  it('forms say all that is wrong, at each field, and keep what was typed: without scripts', async () => {
    const { context, page } = await scriptless();
    const send = async (): Promise<void> => {
      // What the browser itself would hold back reaches the service from elsewhere.
      await page
        .locator('main form[method=post]')
        .last()
        .evaluate((form) => form.setAttribute('novalidate', ''));
    };
    await page.goto(`${service.url}/bugs/new`);
    await send();
    await page.getByLabel('Title').fill('x'.repeat(300));
    await page.getByLabel('Environment').fill('kept');
    await page.getByRole('button', { name: 'Report it' }).click();
    expect(await page.locator('[aria-invalid=true]').count()).to.equal(2);
    expect(await page.getByLabel('Environment').inputValue()).to.equal('kept');
    expect(await page.locator('.invalid-feedback').allInnerTexts()).to.satisfy((all: string[]) =>
      all.some((text) => text.includes('Write at most 200 characters; these are 300.')),
    );

    await page.goto(`${service.url}/notifications/new?kind=slack`);
    await page.locator('summary', { hasText: 'Reminders, quiet hours and digest' }).click();
    await send();
    await page.getByLabel('Name', { exact: true }).fill('');
    await page.getByLabel('Time zone').fill('Nowhere/Land');
    await page.getByLabel('At most one message').fill('2000');
    await page.getByRole('button', { name: 'Create channel' }).click();
    const faults = await page.locator('.invalid-feedback').allInnerTexts();
    expect(faults.join('\n')).to.include('Fill this in.').and.include('Give 1,440 or less.');
    expect(faults.length).to.be.at.least(3);
    expect(faults.join('\n')).to.not.match(/must be|not allowed|less than or equal/);
    expect(await page.getByLabel('Time zone').inputValue()).to.equal('Nowhere/Land');
    await context.close();
  });
});
