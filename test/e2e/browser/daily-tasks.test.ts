/**
 * The ten tasks of a day, each begun on the dashboard, by clicks alone (typing is none): two or fewer, three for what asks before
 * it changes much. docs/daily-tasks.md names the same numbers. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { until } from '../../harness.js';
import { ADMIN, SHARED_KEY, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

const REPORT = {
  project: 'shop',
  error_level: 'fatal',
  exception_class: 'RedisTimeoutError',
  error_message: 'Command timed out',
  stack_trace: 'RedisTimeoutError: Command timed out\n    at get (/srv/shop/src/lib/redis.js:88:5)',
  environment: 'production',
};

describe('web: the ten daily tasks', function () {
  this.timeout(180_000);
  let service: TestService;
  let browser: TestBrowser;
  let token: string;
  let tab: Tab;
  let clicks: number;
  let ref: string;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
    await service.project('shop');
    const scopes = 'bugtracker:report,bugtracker:manage,watchdog:ping,webhooks:manage,license:manage';
    token = await service.token(scopes);
    await post('/api/webhooks/v1/webhooks', { name: 'Pager', url: 'http://127.0.0.1:9/pager', events: 'bug.created' });
    ref = String((await post('/api/errors/v1/report', REPORT))['ref']);
    await post(`/api/bugtracker/v1/bugs/${ref}/claim`, { agent: 'fixer-7' });
    await post('/api/errors/v1/report', {
      ...REPORT,
      exception_class: 'VoucherError',
      error_message: 'Unknown voucher',
    });
    for (let i = 0; i < 25; i++) {
      await post('/api/bugtracker/v1/report', {
        type: 'bug',
        project: 'shop',
        title: `Small thing ${i}`,
        severity: 'low',
      });
    }
    await post('/api/watchdog/v1/ping', { source: 'queue', interval: 0.05, metrics: { length: 7 } });
    await post('/api/license/v1/licenses', {
      product: 'shop',
      licensee: 'Kettleworth',
      max_activations: 1,
      require_approval: true,
    });
    await until('the monitor is down', async () => {
      await service.request('POST', '/api/watchdog/v1/evaluate', SHARED_KEY);
      const { body } = await service.request('GET', '/api/watchdog/v1/status', SHARED_KEY);
      return (body['counts'] as { down: number }).down === 1;
    });
    await until('the webhook is disabled', async () => {
      const { body } = await service.request('GET', '/api/webhooks/v1/webhooks', token);
      return (body['items'] as { enabled: boolean }[])[0]?.enabled === false;
    });
    browser = await launch(CHROMIUM);
    tab = await Tab.open(browser, service.url);
    await tab.signIn(ADMIN.username, ADMIN.password);
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });
  beforeEach(async () => {
    clicks = 0;
    await tab.go('/');
  });

  async function post(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await service.request('POST', path, token, body);
    expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).to.be.oneOf([200, 201]);
    return answer.body;
  }
  const click = async (what: Locator): Promise<void> => {
    clicks++;
    await what.click();
    await tab.page.waitForLoadState();
  };
  const link = (name: string | RegExp): Locator => tab.page.getByRole('link', { name }).first();
  const seen = async (text: string | RegExp): Promise<void> => {
    await tab.page.getByRole('main').getByText(text).first().waitFor({ timeout: 10_000 });
  };
  const nav = (name: string): Locator =>
    tab.page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: new RegExp(`^${name}`) });

  it('what broke tonight: it is on the dashboard', async () => {
    await seen(/Unknown voucher|VoucherError/);
    expect(clicks).to.equal(0);
  });

  it('why: one click', async () => {
    await click(link(/Unknown voucher|VoucherError/));
    await seen('redis.js');
    expect(clicks).to.equal(1);
  });

  it('who has it: two clicks', async () => {
    await click(nav('Bugs'));
    await click(link(/^Claimed/));
    await seen(/fixer-7/);
    expect(clicks).to.equal(2);
  });

  it('what is down: it is on the dashboard', async () => {
    await seen(/1 down/);
    expect(clicks).to.equal(0);
  });

  it('its metrics: one click', async () => {
    await click(tab.page.getByRole('main').getByRole('link', { name: 'queue' }).first());
    await tab.page.getByRole('slider', { name: /^length/ }).waitFor();
    expect(clicks).to.equal(1);
  });

  it('find by ref: no click, by keyboard', async () => {
    await tab.page.keyboard.press('Control+k');
    await tab.page.keyboard.type(ref);
    await tab.page.keyboard.press('Enter');
    await tab.page.waitForURL(`**/bugs/${ref}`);
    expect(clicks).to.equal(0);
  });

  it('is all well: one click', async () => {
    await click(nav('System'));
    await seen(/healthy|degraded/i);
    expect(clicks).to.equal(1);
  });

  it('re-enable a webhook: one click', async () => {
    await click(tab.page.getByRole('button', { name: 'Re-enable Pager' }));
    await seen('Webhook enabled');
    expect(clicks).to.equal(1);
  });

  it('approve a license: two clicks', async () => {
    await click(nav('Approvals'));
    await click(tab.page.getByRole('button', { name: /^Approve/ }).first());
    await seen(/approved/i);
    expect(clicks).to.equal(2);
  });

  it('mute it with its past: three clicks', async () => {
    await click(nav('Errors'));
    const row = tab.page.getByRole('row').filter({ hasText: 'Unknown voucher' });
    await click(row.getByRole('button', { name: /^Mute .* for a while$/ }));
    await tab.page.getByRole('dialog').getByLabel('Reason').fill('People mistype vouchers.');
    await click(tab.page.getByRole('dialog').getByRole('button', { name: 'Mute' }));
    await until('the group is muted', async () => {
      const { body } = await service.request('GET', '/api/bugtracker/v1/bugs?muted=true', token);
      return (body['items'] as { title: string }[]).some(({ title }) => title.includes('Unknown voucher'));
    });
    expect(clicks).to.equal(3);
  });
});
