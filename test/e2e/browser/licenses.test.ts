/**
 * Licenses in a real browser against the real service: made, shown, approved, switched off; a
 * customer’s own page.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { verifyLicenseFile } from '../../../lib/formats/license-file.js';
import { useBrowser } from './use-browser.js';

const KEY = /[2-9A-HJ-NP-Z]{5}(?:-[2-9A-HJ-NP-Z]{5}){4}/;
/** With it the pages are kept as pictures, for people. */
const SHOTS = process.env['SHOTS'];

describe('web: licenses in a real browser', () => {
  const web = useBrowser({
    projects: ['shop'],
    scopes: 'license:manage',
    prepare: () => web.createMember('mia'),
  });

  const shot = async (name: string): Promise<void> => {
    if (SHOTS === undefined) return;
    await mkdir(SHOTS, { recursive: true });
    await web.page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
  };
  const create = async (more: object = {}): Promise<{ id: string; key: string }> => {
    const { license, key } = await web.post<{ license: { id: string }; key: string }>('/api/license/v1/licenses', {
      product: 'shop',
      ...more,
    });
    return { id: license.id, key };
  };
  const validate = async (license_key: string, machine_id: string): Promise<unknown> => {
    const body = { license_key, product: 'shop', machine_id, machine_name: `Machine ${machine_id}` };
    return (await web.service.request('POST', '/api/license/v1/validate', null, body)).body['status'];
  };

  it('preserves the expiry time on an unchanged day, and sets a new day to its end', async () => {
    const { id } = await create({ expires_at: '2028-03-04T14:30:00.000Z', licensee: 'Kettleworth' });
    const end = async (): Promise<unknown> => {
      return (await web.get<{ license: { expires_at: unknown } }>(`/api/license/v1/licenses/${id}`)).license.expires_at;
    };
    const { page } = await web.openTab();
    const save = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('License saved.').waitFor();
    };
    await web.tab.go(`/licenses/${id}/edit`);
    expect(await page.locator('#f-expires_at').inputValue()).to.equal('2028-03-04');
    await page.getByLabel('Customer').fill('Kettleworth & Daughters');
    await save();
    expect(await end()).to.equal('2028-03-04T14:30:00.000Z');
    await web.tab.go(`/licenses/${id}/edit`);
    await page.getByRole('button', { name: '+1 month' }).click();
    await save();
    expect(await end()).to.equal('2028-04-04T23:59:59.000Z');
  });

  it('creates a license, shows its key, and shows its expiry to an administrator', async () => {
    const { page } = await web.openTab();
    await web.tab.go('/licenses');
    await shot('licenses-empty');
    await page.getByRole('link', { name: 'New license' }).first().click();
    await page.getByLabel('Customer').fill('Ada Lovelace & Sons <Ltd>');
    await page.getByRole('spinbutton', { name: 'Machines' }).fill('1');
    await page.getByLabel('Features').fill('{"edition": ');
    await page.getByRole('button', { name: 'Create license' }).click();
    expect(await page.locator('main').innerText()).to.include('must be a JSON object');
    await page.getByLabel('Features').fill('{"edition": "pro"}');
    const end = page.getByLabel('Expires', { exact: true });
    expect(await end.getAttribute('type')).to.equal('date');
    await end.fill('2030-01-31');
    const later = page.getByRole('group', { name: 'Expires: later' });
    await later.getByRole('button', { name: '+1 month' }).click();
    expect(await end.inputValue(), 'a month after the last of January').to.equal('2030-02-28');
    await later.getByRole('button', { name: '+1 year' }).click();
    expect(await end.inputValue()).to.equal('2031-02-28');
    await end.fill('2030-12-31');
    await shot('license-new');
    await page.getByRole('button', { name: 'Create license' }).click();
    const key = KEY.exec(await page.locator('main').innerText())?.[0] ?? '';
    expect(key).to.match(KEY);
    await shot('license-created');
    expect(await validate(key, 'm-1')).to.equal('active');
    await page.getByRole('link', { name: 'View license' }).click();
    const text = await page.locator('main').innerText();
    expect(text).to.include('Ada Lovelace & Sons <Ltd>').and.include('Machine m-1').and.not.match(KEY);
    await shot('license');
    await page.getByRole('button', { name: 'Reveal key' }).click();
    expect(await page.locator('main').innerText())
      .to.include(key)
      .and.include('admin revealed the key of license Ada Lovelace & Sons <Ltd>');
    await page.getByLabel('Machine', { exact: true }).fill('m-1');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download .lic' }).click(),
    ]);
    const { body: pub } = await web.service.request('GET', '/api/license/v1/pubkey', null);
    const stream = await download.createReadStream();
    const file = (await stream.toArray()).join('');
    expect(verifyLicenseFile(file, String(pub['public_key']), { machineId: 'm-1' }).valid).to.equal(true);
    await page.locator('summary', { hasText: 'Deactivate license' }).click();
    await page.getByRole('button', { name: /^Deactivate (for|license)/ }).click();
    await page.getByRole('status').filter({ hasText: 'License deactivated' }).waitFor();
    expect(await validate(key, 'm-1')).to.equal('inactive');
    await web.tab.go('/licenses');
    await page.locator('summary', { hasText: 'Search by key' }).click();
    await page.getByLabel('License key').fill(key.toLowerCase());
    await page.getByRole('button', { name: 'Find license', exact: true }).click();
    expect(page.url()).to.not.include(key).and.not.include(key.toLowerCase());
    expect(await page.locator('tbody tr').count()).to.equal(1);
    await shot('licenses');
    // The form that was refused on purpose.
    expect(web.tab.faults.filter((fault) => !fault.includes('422'))).to.deep.equal([]);
  });

  it('shows pending approvals in the navigation and on the dashboard, and approves them', async () => {
    const { key, id } = await create({ licensee: 'Waits', require_approval: true, max_activations: 1 });
    const { page } = await web.openTab();
    await web.tab.go('/');
    expect(await page.getByRole('main').getByRole('link', { name: 'Review approvals' }).count()).to.equal(1);
    await shot('dashboard');
    await page
      .getByRole('link', { name: /^Licenses/ })
      .first()
      .click();
    await page.getByRole('link', { name: /^Approvals/ }).click();
    await page.getByRole('button', { name: 'Approve' }).first().click();
    await page.getByRole('status').filter({ hasText: 'License approved' }).waitFor();
    expect(await validate(key, 'a')).to.equal('active');
    expect(await validate(key, 'b')).to.equal('machine_pending');
    await web.tab.go('/license-approvals');
    expect(await page.locator('main').innerText()).to.include('Machine b');
    await shot('approvals');
    await page.getByRole('button', { name: 'Approve' }).first().click();
    await page.getByRole('status').filter({ hasText: 'Machine approved' }).waitFor();
    expect(await validate(key, 'b')).to.equal('active');
    expect(await web.tab.go(`/licenses/${id}`)).to.equal(200);
  });

  it('creates a floating license, shows its seats in use and releases one', async () => {
    const { page } = await web.openTab();
    await web.tab.go('/licenses/new');
    await page.getByLabel('Customer').fill('Floaters');
    await page.getByRole('spinbutton', { name: 'Machines' }).fill('1');
    await page.getByLabel('Floating seats').check();
    await page.getByLabel('Seat lease (seconds)').fill('3600');
    await page.getByLabel('Entitlements').fill('export\nexport');
    const save = page.getByRole('button', { name: 'Create license' });
    await save.click();
    expect(await page.getByLabel('Floating seats').isChecked()).to.equal(true);
    expect(await page.locator('#f-entitlements').getAttribute('aria-invalid')).to.equal('true');
    await page.getByLabel('Entitlements').fill('export\nreports 2031-12-31');
    await save.click();
    const key = KEY.exec(await page.locator('main').innerText())?.[0] ?? '';
    await page.getByRole('link', { name: 'View license' }).click();
    const main = page.locator('main');
    expect(await main.innerText())
      .to.include('No seats in use')
      .and.include('Floating, leased for 3600 s')
      .and.include('export')
      .and.not.include('License file');
    expect(await validate(key, 'one')).to.equal('active');
    expect(await validate(key, 'two')).to.equal('no_seat_free');
    await page.reload();
    expect(await main.innerText())
      .to.include('Machine one')
      .and.include('1 of 1');
    await shot('license-floating');
    await page.locator('summary', { hasText: 'Release seat' }).click();
    await page.getByRole('button', { name: 'Release seat' }).click();
    await page.getByRole('status').filter({ hasText: 'Seat released.' }).waitFor();
    expect(await main.innerText()).to.include('admin released seat of license Floaters');
    expect(await validate(key, 'two')).to.equal('active');
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    expect(await page.getByLabel('Entitlements').inputValue()).to.equal('export\nreports 2031-12-31');
    await page.getByLabel('Grace period (days)').fill('7');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('License saved.').waitFor();
    expect(await main.innerText())
      .to.include('7 days')
      .and.include('Machine two');
    await web.openTab({ width: 360, username: null, path: '/license' });
    await web.page.getByLabel('License key').fill(key);
    await web.page.getByRole('button', { name: 'View license' }).click();
    expect(await web.page.locator('main').innerText())
      .to.include('Machine two')
      .and.include('1 of 1')
      .and.not.include('offline');
    expect(await web.tab.overflow()).to.equal(0);
  });

  it('shows members neither actions nor keys', async () => {
    const { id, key } = await create({ licensee: 'Read only' });
    await web.openTab({ username: 'mia' });
    for (const path of ['/licenses', `/licenses/${id}`, '/license-approvals']) {
      expect(await web.tab.go(path), path).to.equal(200);
      expect(await web.page.content(), path).to.not.include(key);
      expect(await web.tab.count('main form[method=post]:not([action="/licenses/find"])'), path).to.equal(0);
    }
    expect(await web.tab.go('/licenses/new')).to.equal(403);
  });

  it('lets customers view a license, release three machines and download a file, and limits guesses', async () => {
    const { key, id } = await create({ licensee: 'Customer', max_activations: 6, notes: 'internal words' });
    for (const m of ['1', '2', '3', '4', '5']) await validate(key, m);
    const { items } = await web.get<{ items: { id: string }[] }>(`/api/license/v1/licenses/${id}/activations`);
    await web.post(`/api/license/v1/licenses/${id}/activations/${items[0]?.id}/block`);
    const { page } = await web.openTab({ width: 360, username: null, path: '/license' });
    await page.getByLabel('License key').fill(key.replaceAll('-', ' ').toLowerCase());
    await page.getByRole('button', { name: 'View license' }).click();
    expect(await page.content())
      .to.not.include(key)
      .and.not.include('internal words');
    expect(await web.tab.overflow()).to.equal(0);
    await shot('customer-360');
    for (let i = 0; i < 3; i++) {
      await page.locator('summary', { hasText: 'Deactivate' }).first().click();
      await page.getByRole('button', { name: 'Deactivate' }).first().click();
      await page.getByRole('status').filter({ hasText: 'deactivated' }).first().waitFor();
    }
    await page.locator('summary', { hasText: 'Deactivate' }).first().click();
    await page.getByRole('button', { name: 'Deactivate' }).first().click();
    expect(await page.locator('main').innerText())
      .to.include('No deactivations left this month')
      .and.include('Blocked');
    await page.getByLabel('Request code').fill('{"schema":1,"product":"shop","machine_id":"off-line"}');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download .lic' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal('shop.lic');
    const statuses: number[] = [];
    // The wait doubles with every guess: on a slow machine the first ones are over before the next
    // guess comes.
    while (statuses.at(-1) !== 429 && statuses.length < 16) {
      await web.tab.go('/license');
      await page.getByLabel('License key').fill('AAAAA-AAAAA');
      const [answer] = await Promise.all([
        page.waitForNavigation(),
        page.getByRole('button', { name: 'View license' }).click(),
      ]);
      statuses.push(answer?.status() ?? 0);
    }
    expect(statuses.slice(0, 5)).to.deep.equal([401, 401, 401, 401, 401]);
    expect(statuses).to.include(429);
  });
});
