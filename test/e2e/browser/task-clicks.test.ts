/**
 * What people do with the pages, each begun on the dashboard with real clicks, which are counted:
 * four at most (typing and choosing in a native list do not count). docs/ui-tasks.md names the
 * same tasks with the same numbers. A phone's are in on-call.test.ts. Skipped where there is no
 * Chromium.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { buildPackage } from '../../../clients/demo/package-file.js';
import { waitUntil } from '../../harness.js';
import { findPackageRoot } from '../../../config/load.js';
import { ADMIN_ACCOUNT } from '../../support/service.js';
import { useBrowser } from './use-browser.js';

const MOST_CLICKS = 4;
const SCOPES = [
  'bugtracker:report',
  'bugtracker:manage',
  'watchdog:ping',
  'watchdog:manage',
  'license:manage',
  'updateservice:publish',
  'webhooks:manage',
].join(',');

describe('web: clicks per task', () => {
  let folder: string;
  let clicks = 0;
  /** Clicks by task, as in the table. */
  const counted = new Map<string, number>();

  const web = useBrowser({
    projects: ['shop', 'mailer'],
    scopes: SCOPES,
    tab: {},
    prepare: async () => {
      for (const [message, error_level] of [
        ['Voucher is not valid', 'fatal'],
        ['Cart loses lines', 'fatal'],
        ['Shelf is empty', 'error'],
      ] as const) {
        const exception_class = `${message.split(' ')[0]}Error`;
        const stack_trace = `x\n    at f (src/${message}.js:1:1)`;
        await web.reportError('shop', message, { error_level, exception_class, stack_trace });
      }
      for (const n of [1, 2, 3]) await web.reportBug('shop', `Small thing ${n}`, { severity: 'low' });
      await web.post('/api/watchdog/v1/monitors', { source: 'web-1', project: 'shop' });
      await web.post('/api/watchdog/v1/ping', { source: 'web-1', interval: 60_000, app_version: '1.4.0' });
      const expires_at = '2027-01-31T00:00:00.000Z';
      const license = { product: 'shop', licensee: 'Kettleworth', client_ref: 'order-1005', expires_at };
      await web.post('/api/license/v1/licenses', license);
      const pager = { name: 'Pager', url: 'http://127.0.0.1:9/pager', events: 'bug.created' };
      await web.post('/api/webhooks/v1/webhooks', pager);
      await web.publish('shop', '1.4.0');
      folder = await mkdtemp(join(tmpdir(), 'aos-clicks-'));
      await writeFile(join(folder, 'shop.tar.gz'), buildPackage('README.md', 'b'));
    },
  });
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const click = async (what: Locator, options: { modifiers?: 'Shift'[] } = {}): Promise<void> => {
    clicks++;
    await what.first().click(options);
    await web.page.waitForLoadState();
  };
  const main = (): Locator => web.page.getByRole('main');
  const nav = (name: string): Locator =>
    web.page
      .getByRole('navigation', { name: 'Main', exact: true })
      .getByRole('link', { name: new RegExp(`^${name}\\b`) });
  /** A page of the settings, from their own column. */
  const clickSetting = async (name: string): Promise<void> => {
    await click(nav('Settings'));
    const settings = web.page.getByRole('navigation', { name: 'Settings', exact: true });
    await click(settings.getByRole('link', { name }));
  };
  const openProject = async (name: string): Promise<void> => {
    await click(web.page.locator('.project-bar summary'));
    await click(web.page.getByRole('link', { name: `Open ${name}`, exact: true }));
  };
  const button = (name: string | RegExp): Locator => main().getByRole('button', { name });
  const link = (name: string | RegExp): Locator => main().getByRole('link', { name });
  const said = (text: string | RegExp): Promise<void> =>
    web.page.getByText(text).filter({ visible: true }).first().waitFor();

  /** A task of the table, with what is done and how it is seen. */
  const task = (name: string, does: () => Promise<void>): void => {
    it(name, async () => {
      await web.tab.go('/');
      clicks = 0;
      await does();
      counted.set(name, clicks);
      expect(clicks).to.be.at.most(MOST_CLICKS);
      expect(web.tab.faults).to.deep.equal([]);
    });
  };

  task('See what is to be done next, with its command', async () => {
    await click(main().locator('#first-steps summary').first());
    await main().locator('.first-steps pre:visible').first().waitFor();
  });
  task('Make the token of a first step, in its command', async () => {
    await click(main().locator('#first-steps summary').first());
    await click(button('Create token and show command'));
    await said('You won’t be able to see this');
    expect(await main().locator('pre').first().innerText()).to.match(/svc_live_\w+/);
  });
  task('Leave one project of every list', async () => {
    await click(web.page.locator('.project-bar summary'));
    await click(web.page.getByRole('button', { name: 'mailer', exact: true }));
    expect(await web.page.locator('.project-bar summary').innerText()).to.contain('mailer');
    await web.page.getByRole('button', { name: 'Show all projects' }).click();
  });
  task('See how a project is: items, versions, monitors, licenses', async () => {
    await openProject('shop');
    await web.page.getByRole('heading', { name: 'Latest releases' }).waitFor();
  });
  task('Get an intake key in the lines of your language', async () => {
    await openProject('shop');
    await click(link('Settings'));
    await web.page.getByLabel('Language', { exact: true }).selectOption('python');
    await click(button('Create key'));
    await said('You won’t be able to see this');
    expect(await main().innerText()).to.match(/sentry_sdk\.init\(dsn="http:\/\/svc_/);
  });
  task('Name the seller, with colour and logo', async () => {
    await openProject('shop');
    await click(link('Settings'));
    await web.page.getByLabel('Company').fill('Shop Ltd');
    await web.page.getByLabel('Brand color').fill('#0a6640');
    await click(button('Save'));
    await said('Branding saved.');
  });
  task('Publish a release', async () => {
    await click(nav('Releases'));
    await click(link('Publish release'));
    await web.page.locator('#f-product').selectOption('shop');
    await web.page.locator('#f-version').fill('1.5.0');
    await web.page.locator('#f-package').setInputFiles(join(folder, 'shop.tar.gz'));
    await click(web.page.locator('[data-publish-confirm] > summary'));
    await click(web.page.getByRole('button', { name: 'Publish release', exact: true }));
    await web.page.waitForURL(/\/releases\/[0-9a-f]{40}$/);
  });
  task('Halt a rollout', async () => {
    await click(nav('Releases'));
    await click(link('shop 1.5.0'));
    await click(main().locator('summary', { hasText: 'Halt rollout' }));
    await web.page.locator('#reason-halt').fill('It loses carts');
    await click(button('Halt rollout'));
    await said('It loses carts');
  });
  task('See which machines run a version', async () => {
    await click(nav('Machines'));
    await click(link('shop'));
    await click(link(/^1\.4\.0: 1 machine/));
    await main().getByRole('row').filter({ hasText: 'web-1' }).waitFor();
  });
  task('Assign an item to anybody', async () => {
    await click(link(/Voucher is not valid/));
    await click(main().locator('#assign summary'));
    await web.page.getByRole('combobox', { name: 'Assignee' }).fill(ADMIN_ACCOUNT.username);
    await click(web.page.getByRole('button', { name: 'Assign', exact: true }));
    await said('Issue assigned to you');
  });
  task('Change the severity of an item', async () => {
    await click(link(/Voucher is not valid/));
    await click(main().locator('#severity summary'));
    await click(web.page.locator('.inline-menu[open]').getByRole('button', { name: /high/i }));
    await main().locator('#severity').getByText('high').first().waitFor();
  });
  task('Resolve an item', async () => {
    await click(link(/Cart loses lines/));
    await click(button('Resolve'));
    await said('Issue resolved');
  });
  task('Mute a group for a while, from its row', async () => {
    await click(nav('Issues'));
    await click(link('Errors'));
    const row = main().getByRole('row').filter({ hasText: 'Shelf is empty' });
    await click(row.getByRole('button', { name: /^Mute .* for a while$/ }));
    await web.page.getByRole('dialog').getByLabel('Reason').fill('The shop is told.');
    await click(web.page.getByRole('dialog').getByRole('button', { name: 'Mute' }));
    await waitUntil('it is muted', async () => {
      const { items } = await web.get<{ items: object[] }>('/api/bugtracker/v1/bugs?muted=true');
      return items.length === 1;
    });
  });
  task('Filter a list by two values', async () => {
    await click(nav('Issues'));
    await click(main().locator('summary', { hasText: 'Severity' }));
    await click(main().getByRole('checkbox', { name: /^Low/ }));
    await web.page.waitForURL(/severity=low/);
    await click(main().getByRole('checkbox', { name: /^High/ }));
    await web.page.waitForURL(/severity=high/);
  });
  task('Resolve several items at once', async () => {
    await click(nav('Issues'));
    const boxes = main().locator('tbody input[name="ids"]');
    await click(boxes.nth(0));
    await click(boxes.nth(1), { modifiers: ['Shift'] });
    await main().locator('form[data-bulk] select[name="action"]').selectOption('status:resolved');
    await click(button('Apply'));
    await said(/Undo/);
  });
  task('Share a view of a list', async () => {
    await click(nav('Issues'));
    await click(main().locator('summary', { hasText: 'Views' }));
    await web.page.getByLabel('View name').fill('Everything of the shop');
    await web.page.getByLabel('Visible to').selectOption({ label: 'Everyone' });
    await click(button('Save view'));
    await main().locator('.saved-view').first().waitFor();
  });
  task('Find anything, or do it: Ctrl+K', async () => {
    await web.page.keyboard.press('Control+k');
    await web.page.keyboard.type('silence web-1');
    await web.page.getByRole('option', { name: 'Silence web-1' }).first().waitFor();
    await web.page.keyboard.press('Enter');
    await click(web.page.getByRole('button', { name: 'Silence for 1 hour' }));
    await said(/Silenced until/);
  });
  task('Extend a license by a year', async () => {
    await web.page.keyboard.press('Control+k');
    await web.page.keyboard.type('extend order-1005');
    await web.page.getByRole('option', { name: 'Extend order-1005' }).first().waitFor();
    await web.page.keyboard.press('Enter');
    await web.page.waitForURL(/f-expires_at$/);
    await click(web.page.getByRole('button', { name: '+1 year' }));
    await click(web.page.getByRole('button', { name: 'Extend license', exact: true }));
    await said(/2028/);
  });
  task('Make a token for a coding agent', async () => {
    await web.page.keyboard.press('Control+k');
    await web.page.keyboard.type('new token');
    await web.page.getByRole('option', { name: 'New token' }).first().waitFor();
    await web.page.keyboard.press('Enter');
    await click(link(/^Coding agent/));
    await web.page.getByLabel('Name', { exact: true }).fill('fixer');
    await click(web.page.getByRole('button', { name: 'Create token' }));
    await said('You won’t be able to see this');
  });
  task('Invite a member', async () => {
    await clickSetting('Members');
    await web.page.getByRole('textbox', { name: 'E-mail' }).first().fill('lena@example.com');
    await click(button('Create invitation link'));
    await said('Copy invitation link');
  });
  task('Test a webhook', async () => {
    await clickSetting('Webhooks');
    await click(link('Pager'));
    await click(button('Send test'));
    await said('Test failed');
  });
  task('See what was done yesterday, by whom', async () => {
    await clickSetting('Audit log');
    await click(link('Yesterday'));
    await web.page.waitForURL(/period=yesterday/);
  });
  task('Choose your time zone and 12 or 24 hours', async () => {
    await click(web.page.getByLabel(`Account of ${ADMIN_ACCOUNT.username}`));
    await click(web.page.getByRole('link', { name: 'Account settings' }));
    await web.page.getByLabel('Time zone').fill('Asia/Tokyo');
    await web.page.getByLabel('Time format').selectOption('12');
    await click(button('Save'));
    await said('Times in Asia/Tokyo');
  });

  it('match the tasks and numbers in docs/ui-tasks.md', async () => {
    const guide = await readFile(join(findPackageRoot(), 'docs', 'ui-tasks.md'), 'utf8');
    const rows = [...guide.matchAll(/^\| (.+?) +\| (\d) +\|$/gm)];
    expect(Object.fromEntries(rows.map(([, name = '', n]) => [name, Number(n)]))).to.deep.equal(
      Object.fromEntries(counted),
    );
  });
});
