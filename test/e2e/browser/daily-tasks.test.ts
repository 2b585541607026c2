/**
 * The ten tasks of a day, each begun on the dashboard, by clicks alone (typing does not count): two
 * or fewer, three for what asks before it changes much. docs/daily-tasks.md names the same numbers.
 * Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { waitUntil } from '../../harness.js';
import { useBrowser } from './use-browser.js';

const REPORT = {
  project: 'shop',
  error_level: 'fatal',
  exception_class: 'RedisTimeoutError',
  error_message: 'Command timed out',
  stack_trace: 'RedisTimeoutError: Command timed out\n    at get (/srv/shop/src/lib/redis.js:88:5)',
  environment: 'production',
};

describe('web: ten daily tasks', () => {
  let clicks: number;
  let ref: string;

  const web = useBrowser({
    projects: ['shop'],
    scopes: 'bugtracker:report,bugtracker:manage,watchdog:ping,webhooks:manage,license:manage',
    tab: {},
    prepare: async () => {
      const pager = { name: 'Pager', url: 'http://127.0.0.1:9/pager', events: 'bug.created' };
      await web.post('/api/webhooks/v1/webhooks', pager);
      ref = String((await web.post('/api/errors/v1/report', REPORT))['ref']);
      await web.post(`/api/bugtracker/v1/bugs/${ref}/claim`, { agent: 'fixer-7' });
      const voucher = { exception_class: 'VoucherError', error_message: 'Unknown voucher' };
      await web.post('/api/errors/v1/report', { ...REPORT, ...voucher });
      for (let i = 0; i < 25; i++) await web.reportBug('shop', `Small thing ${i}`, { severity: 'low' });
      await web.post('/api/watchdog/v1/ping', { source: 'queue', interval: 0.05, metrics: { length: 7 } });
      const license = { product: 'shop', licensee: 'Kettleworth', max_activations: 1, require_approval: true };
      await web.post('/api/license/v1/licenses', license);
      await web.waitForMonitorDown();
      await waitUntil('the webhook is disabled', async () => {
        const { items } = await web.get<{ items: { enabled: boolean }[] }>('/api/webhooks/v1/webhooks');
        return items[0]?.enabled === false;
      });
    },
  });
  beforeEach(async () => {
    clicks = 0;
    await web.tab.go('/');
  });

  const click = async (what: Locator): Promise<void> => {
    clicks++;
    await what.click();
    await web.page.waitForLoadState();
  };
  const link = (name: string | RegExp): Locator => web.page.getByRole('link', { name }).first();
  const seen = async (text: string | RegExp): Promise<void> => {
    await web.page.getByRole('main').getByText(text).first().waitFor();
  };
  const nav = (name: string): Locator =>
    web.page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: new RegExp(`^${name}`) });

  it('finds last night’s failures on the dashboard', async () => {
    await seen(/Unknown voucher|VoucherError/);
    expect(clicks).to.equal(0);
  });

  it('finds the cause with one click', async () => {
    await click(link(/Unknown voucher|VoucherError/));
    await seen('redis.js');
    expect(clicks).to.equal(1);
  });

  it('finds the assignee with two clicks', async () => {
    await click(nav('Issues'));
    await click(link(/^Claimed/));
    await seen(/fixer-7/);
    expect(clicks).to.equal(2);
  });

  it('finds failing monitors on the dashboard', async () => {
    await seen(/1 monitor down/);
    expect(clicks).to.equal(0);
  });

  it('finds the metrics of a monitor with one click', async () => {
    await click(web.page.getByRole('main').getByRole('link', { name: 'queue' }).first());
    await web.page.getByRole('slider', { name: /^length/ }).waitFor();
    expect(clicks).to.equal(1);
  });

  it('finds an item by its ref with the keyboard, without a click', async () => {
    await web.page.keyboard.press('Control+k');
    await web.page.keyboard.type(ref);
    await web.page.keyboard.press('Enter');
    await web.page.waitForURL(`**/bugs/${ref}`);
    expect(clicks).to.equal(0);
  });

  it('verifies that everything is healthy with two clicks', async () => {
    await click(nav('Settings'));
    await click(
      web.page.getByRole('navigation', { name: 'Settings', exact: true }).getByRole('link', { name: 'System health' }),
    );
    await seen(/healthy|degraded/i);
    expect(clicks).to.equal(2);
  });

  it('re-enables a webhook with one click', async () => {
    await click(web.page.getByRole('button', { name: 'Re-enable Pager' }));
    await seen('Webhook enabled');
    expect(clicks).to.equal(1);
  });

  it('approves a license with three clicks', async () => {
    await click(nav('Licenses'));
    await click(link(/^Approvals/));
    await click(web.page.getByRole('button', { name: /^Approve/ }).first());
    await seen(/approved/i);
    expect(clicks).to.equal(3);
  });

  it('mutes an error group with four clicks', async () => {
    await click(nav('Issues'));
    await click(link(/^Errors/));
    const row = web.page.getByRole('row').filter({ hasText: 'Unknown voucher' });
    await click(row.getByRole('button', { name: /^Mute .* for a while$/ }));
    await web.page.getByRole('dialog').getByLabel('Reason').fill('People mistype vouchers.');
    await click(web.page.getByRole('dialog').getByRole('button', { name: 'Mute' }));
    await waitUntil('the group is muted', async () => {
      const { items } = await web.get<{ items: { title: string }[] }>('/api/bugtracker/v1/bugs?muted=true');
      return items.some(({ title }) => title.includes('Unknown voucher'));
    });
    expect(clicks).to.equal(4);
  });
});
