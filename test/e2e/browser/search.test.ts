/** The search box in a real browser: by keyboard, with refs in any case, and without scripts. */
import { expect } from 'chai';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

describe('web: the search in a real browser', function () {
  this.timeout(180_000);
  let service: TestService;
  let browser: TestBrowser;
  let ref: string;
  let tab: Tab | undefined;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here();
    await service.command(['project', 'create', 'warehouse', '--name', 'Stock of all branches']);
    const token = await service.token('bugtracker:report,watchdog:ping');
    const { body } = await service.request('POST', '/api/errors/v1/report', token, {
      project: 'warehouse',
      error_level: 'error',
      exception_class: 'TypeError',
      error_message: 'the label printer <b>jams</b>',
    });
    ref = String(body['ref']);
    await service.request('POST', '/api/watchdog/v1/ping', token, { source: 'printer-7', status: 'ok' });
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

  for (const width of [1440, 360]) {
    it(`Ctrl+K, words, arrows and Enter at ${width} pixels`, async () => {
      tab = await Tab.open(browser, service.url, width);
      await tab.signIn(ADMIN.username, ADMIN.password);
      await tab.go('/');
      const { page } = tab;
      await page.keyboard.press('Control+k');
      await page.keyboard.type('printer');
      const list = page.getByRole('listbox', { name: 'Found' });
      await list.getByRole('option', { name: /label printer/ }).waitFor();
      expect(await list.innerText())
        .to.include('the label printer <b>jams</b>')
        .and.include('printer-7');
      expect(await tab.overflow()).to.equal(0);
      await page.keyboard.press('ArrowDown');
      expect(await list.getByRole('option', { selected: true }).innerText()).to.include(ref);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${service.url}/bugs/${ref}`);

      await page.keyboard.press('Control+k');
      await page.keyboard.type('printer');
      await list.waitFor();
      await page.keyboard.press('Escape');
      expect(await list.count()).to.equal(0);
      expect(tab.faults).to.deep.equal([]);
    });
  }

  it('a ref in any case leads to its item, from the box and from the address', async () => {
    tab = await Tab.open(browser, service.url);
    await tab.signIn(ADMIN.username, ADMIN.password);
    const { page } = tab;
    await tab.go('/tokens');
    await page.keyboard.press('/');
    await page.keyboard.type(ref.toUpperCase());
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.url}/bugs/${ref}`);
    await tab.go(`/bugs/${ref.toUpperCase()}`);
    expect(page.url()).to.equal(`${service.url}/bugs/${ref}`);
    await tab.go(`/bugs?q=${ref}`);
    expect(await page.locator(`tr[data-ref="${ref}"]`).count()).to.equal(1);
  });

  it('finds each page by words that people use for it', async () => {
    tab = await Tab.open(browser, service.url);
    await tab.signIn(ADMIN.username, ADMIN.password);
    const words: Record<string, string> = {
      home: 'Dashboard',
      tickets: 'Bugs',
      exceptions: 'Errors',
      mute: 'Ignore rules',
      downtime: 'Monitors',
      tree: 'Hierarchy',
      installers: 'Machines',
      seats: 'Licenses',
      htaccess: 'Access protection',
      sentry: 'Projects',
      team: 'Users',
      'api key': 'Tokens',
      hooks: 'Webhooks',
      email: 'Notifications',
      database: 'Migrations',
      'audit log': 'Audit',
      openapi: 'Docs',
    };
    const found: Record<string, string[]> = {};
    for (const word of Object.keys(words)) {
      await tab.go(`/search?q=${encodeURIComponent(word)}`);
      found[word] = await tab.page.locator('main a').allInnerTexts();
    }
    for (const [word, page] of Object.entries(words)) expect(found[word], word).to.include(page);
  });

  it('does by keyboard what it is told: a new monitor, a silence, an end, an answer', async () => {
    const token = await service.token('license:manage');
    const made = await service.request('POST', '/api/license/v1/licenses', token, {
      product: 'warehouse',
      licensee: 'Kettleworth',
      client_ref: 'order-1005',
      expires_at: '2027-01-31T00:00:00.000Z',
    });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    tab = await Tab.open(browser, service.url);
    await tab.signIn(ADMIN.username, ADMIN.password);
    const { page } = tab;
    const tasks: [typed: string, option: string, address: RegExp, field: string][] = [
      ['new monitor', 'New monitor', /\/monitors\/new$/, ''],
      ['silence printer-7', 'Silence printer-7', /\/monitors\/printer-7#silence-reason$/, 'silence-reason'],
      ['extend order-1005', 'Extend order-1005', /\/licenses\/[0-9a-f-]+#f-expires_at$/, 'f-expires_at'],
      [`comment ${ref}`, `Comment ${ref}`, new RegExp(`/bugs/${ref}#f-body$`), 'f-body'],
      [`resolve ${ref}`, `Resolve ${ref}`, new RegExp(`/bugs/${ref}#build-resolved$`), 'build-resolved'],
    ];
    for (const [typed, option, address, field] of tasks) {
      await tab.go('/');
      await page.keyboard.press('Control+k');
      await page.keyboard.type(typed);
      await page.getByRole('option', { name: option }).first().waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(address);
      if (field === '') continue;
      const focused = page.locator(`#${field}`);
      expect(await focused.isVisible(), typed).to.equal(true);
      expect(await focused.evaluate((one) => one === one.ownerDocument.activeElement), typed).to.equal(true);
    }
    expect(tab.faults).to.deep.equal([]);
  });

  it('finds rules, machines, licenses by their reference and tokens by their name', async () => {
    const token = await service.token('bugtracker:manage');
    await service.request('POST', '/api/errors/v1/ignore-rules', token, {
      match_type: 'contains',
      pattern: 'scanner without paper',
      reason: 'Nobody can do anything about it.',
    });
    const seller = await service.token('license:manage');
    const sold = await service.request('POST', '/api/license/v1/licenses', seller, { product: 'warehouse' });
    const machine = {
      license_key: sold.body['key'],
      product: 'warehouse',
      machine_id: 'm-77',
      machine_name: 'Reception',
    };
    expect((await service.request('POST', '/api/license/v1/validate', null, machine)).body).to.include({ valid: true });
    tab = await Tab.open(browser, service.url);
    await tab.signIn(ADMIN.username, ADMIN.password);
    const { page } = tab;
    for (const [typed, title] of [
      ['without paper', 'scanner without paper'],
      ['m-77', 'Reception'],
      ['order-1005', 'Kettleworth'],
    ] as const) {
      await tab.go('/');
      await page.keyboard.press('Control+k');
      await page.keyboard.type(typed);
      await page.getByRole('option', { name: title }).first().waitFor();
    }
    expect(tab.faults).to.deep.equal([]);
  });

  it('works without scripts', async () => {
    const plain = await Tab.scriptless(browser, service.url);
    await plain.signIn(ADMIN.username, ADMIN.password);
    await plain.go('/');
    const { page } = plain;
    await page.getByLabel('Search everything').fill('stock');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /Stock of all branches/ }).click();
    expect(page.url()).to.equal(`${service.url}/projects/warehouse`);
    await plain.discard();
  });
});
