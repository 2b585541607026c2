/** The search box in a real browser: by keyboard, with refs in any case, and without scripts. */
import { expect } from 'chai';
import { useBrowser } from './use-browser.js';

describe('web: search in a real browser', () => {
  let ref: string;

  const web = useBrowser({
    scopes: 'bugtracker:report,bugtracker:manage,watchdog:ping,license:manage',
    prepare: async () => {
      await web.service.runCommand(['project', 'create', 'warehouse', '--name', 'Stock of all branches']);
      ref = await web.reportError('warehouse', 'the label printer <b>jams</b>');
      await web.post('/api/watchdog/v1/ping', { source: 'printer-7', status: 'ok' });
    },
  });

  for (const width of [1440, 360]) {
    it(`finds results with Ctrl+K, words, arrows and Enter at ${width} pixels`, async () => {
      const { page } = await web.openTab({ width, path: '/' });
      await page.keyboard.press('Control+k');
      await page.keyboard.type('printer');
      const list = page.getByRole('listbox', { name: 'Found' });
      await list.getByRole('option', { name: /label printer/ }).waitFor();
      expect(await list.innerText())
        .to.include('the label printer <b>jams</b>')
        .and.include('printer-7');
      expect(await web.tab.overflow()).to.equal(0);
      await page.keyboard.press('ArrowDown');
      expect(await list.getByRole('option', { selected: true }).innerText()).to.include(ref);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${web.url}/bugs/${ref}`);

      await page.keyboard.press('Control+k');
      await page.keyboard.type('printer');
      await list.waitFor();
      await page.keyboard.press('Escape');
      expect(await list.count()).to.equal(0);
      expect(web.tab.faults).to.deep.equal([]);
    });
  }

  it('begins with recent pages, the actions of this page and the navigation', async () => {
    const { page } = await web.openTab();
    await web.tab.go(`/bugs/${ref}`);
    await web.tab.go('/monitors');
    await page.keyboard.press('Control+k');
    const list = page.getByRole('listbox', { name: 'Found' });
    await list.waitFor();
    const groups = await list.getByRole('group').all();
    expect(await Promise.all(groups.map((group) => group.getAttribute('aria-label')))).to.deep.equal([
      'Recent',
      'On this page',
      'Go to',
    ]);
    expect(await list.getByRole('group', { name: 'Recent' }).innerText()).to.include('label printer');
    expect(await list.getByRole('group', { name: 'Go to' }).innerText())
      .to.include('Releases')
      .and.include('Settings');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${web.url}/bugs/${ref}`);

    await web.tab.go('/monitors');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('new monitor');
    await list.getByRole('group', { name: 'On this page' }).getByRole('option', { name: 'New monitor' }).click();
    await page.waitForURL(`${web.url}/probes/new`);
    await page.getByRole('heading', { name: 'New monitor', level: 1 }).waitFor();
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('forgets recent pages after sign-out', async () => {
    const { page } = await web.openTab();
    await web.tab.go(`/bugs/${ref}`);
    expect(await page.evaluate("localStorage.getItem('aos.recent')")).to.include(ref);
    await page.getByLabel(/^Account of/).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/login/);
    expect(await page.evaluate("localStorage.getItem('aos.recent')")).to.equal(null);
  });

  it('opens an item by its case-insensitive ref, from the search box and from the address bar', async () => {
    const { page } = await web.openTab();
    await web.tab.go('/tokens');
    await page.keyboard.press('/');
    await page.keyboard.type(ref.toUpperCase());
    await page.keyboard.press('Enter');
    await page.waitForURL(`${web.url}/bugs/${ref}`);
    await web.tab.go(`/bugs/${ref.toUpperCase()}`);
    expect(page.url()).to.equal(`${web.url}/bugs/${ref}`);
    await web.tab.go(`/bugs?q=${ref}`);
    expect(await page.locator(`tr[data-ref="${ref}"]`).count()).to.equal(1);
  });

  it('finds each page by common synonyms', async () => {
    await web.openTab();
    const words: Record<string, string> = {
      dashboard: 'Home',
      tickets: 'Issues',
      exceptions: 'Errors',
      mute: 'Ignore rules',
      downtime: 'Monitors',
      tree: 'Hierarchy',
      installers: 'Machines',
      seats: 'Licenses',
      htaccess: 'Access protection',
      sentry: 'Projects',
      team: 'Members',
      'api key': 'API tokens',
      hooks: 'Webhooks',
      email: 'Alerts',
      database: 'Migrations',
      'audit log': 'Audit log',
      openapi: 'Docs',
    };
    const found: Record<string, string[]> = {};
    for (const word of Object.keys(words)) {
      await web.tab.go(`/search?q=${encodeURIComponent(word)}`);
      found[word] = await web.page.locator('main a').allInnerTexts();
    }
    for (const [word, page] of Object.entries(words)) expect(found[word], word).to.include(page);
  });

  it('runs actions by keyboard: new monitor, silence, extend, comment and resolve', async () => {
    await web.post('/api/license/v1/licenses', {
      product: 'warehouse',
      licensee: 'Kettleworth',
      client_ref: 'order-1005',
      expires_at: '2027-01-31T00:00:00.000Z',
    });
    const { page } = await web.openTab();
    const tasks: [typed: string, option: string, address: RegExp, field: string][] = [
      ['new monitor', 'New monitor', /\/monitors\/new$/, ''],
      ['silence printer-7', 'Silence printer-7', /\/monitors\/printer-7#silence-reason$/, 'silence-reason'],
      ['extend order-1005', 'Extend order-1005', /\/licenses\/[0-9a-f-]+#f-expires_at$/, 'f-expires_at'],
      [`comment ${ref}`, `Comment ${ref}`, new RegExp(`/bugs/${ref}#f-body$`), 'f-body'],
      [`resolve ${ref}`, `Resolve ${ref}`, new RegExp(`/bugs/${ref}#build-resolved$`), 'build-resolved'],
    ];
    for (const [typed, option, address, field] of tasks) {
      await web.tab.go('/');
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
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('finds rules, machines, licenses by reference and tokens by name', async () => {
    await web.post('/api/errors/v1/ignore-rules', {
      match_type: 'contains',
      pattern: 'scanner without paper',
      reason: 'Nobody can do anything about it.',
    });
    const { key } = await web.post('/api/license/v1/licenses', { product: 'warehouse' });
    const machine = {
      license_key: key,
      product: 'warehouse',
      machine_id: 'm-77',
      machine_name: 'Reception',
    };
    expect((await web.service.request('POST', '/api/license/v1/validate', null, machine)).body).to.include({
      valid: true,
    });
    const { page } = await web.openTab();
    for (const [typed, title] of [
      ['without paper', 'scanner without paper'],
      ['m-77', 'Reception'],
      ['order-1005', 'Kettleworth'],
    ] as const) {
      await web.tab.go('/');
      await page.keyboard.press('Control+k');
      await page.keyboard.type(typed);
      await page.getByRole('option', { name: title }).first().waitFor();
    }
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('works without scripts', async () => {
    const { page } = await web.openTab({ scripts: false, path: '/' });
    await page.getByLabel('Search everything').fill('stock');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /Stock of all branches/ }).click();
    expect(page.url()).to.equal(`${web.url}/projects/warehouse`);
  });
});
