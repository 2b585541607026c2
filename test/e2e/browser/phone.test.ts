/**
 * Every list on a phone (360 by 640 pixels): its first row stands within the first screen, whole. Skipped where there is no
 * Chromium.
 */
import { expect } from 'chai';
import { join } from 'node:path';
import { Connection } from '../../../adapters/sqlite/connection/connection.js';
import { performWrite } from '../../../adapters/sqlite/writing/perform.js';
import { packageWith } from '../../../clients/demo/package-file.js';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

const HEIGHT = 640;
const SCOPES = [
  'bugtracker:report',
  'bugtracker:manage',
  'watchdog:ping',
  'webhooks:manage',
  'license:manage',
  'updateservice:publish',
].join(',');

/** Each list with what its rows are. */
const LISTS: readonly [string, string][] = [
  ['/', '.list-group-item'],
  ['/bugs', 'tbody tr'],
  ['/bugs?project=shop&status=open&severity=critical', 'tbody tr'],
  ['/errors', 'tbody tr'],
  ['/ignore-rules', 'tbody tr'],
  ['/monitors', 'tbody tr'],
  ['/hierarchy', '.tree li'],
  ['/releases', 'tbody tr'],
  ['/licenses', 'tbody tr'],
  ['/license-approvals', 'tbody tr'],
  ['/access-protection', 'tbody tr'],
  ['/webhooks', 'tbody tr'],
  ['/webhooks/events', 'tbody tr'],
  ['/projects', 'tbody tr'],
  ['/users', 'tbody tr'],
  ['/tokens', 'tbody tr'],
  ['/notifications', 'tbody tr'],
  ['/migrations', 'tbody tr'],
  ['/audit', 'tbody tr'],
  ['/search?q=shop', '.list-group-item'],
];

/** As twenty deliveries in a row would, over hours: the list has its banner. */
function disableWebhooks(dataDir: string): void {
  const connection = new Connection({ path: join(dataDir, 'aos.db'), durability: 'normal' });
  try {
    const disabled_at = new Date().toISOString();
    const set = { enabled: false, disabled_at, disabled_reason: '20 deliveries in a row failed: connection refused' };
    const change = JSON.stringify({ filter: { enabled: true }, update: { set } });
    connection.transaction(() => performWrite(connection, ['touch', 'webhooks_webhooks', change]));
  } finally {
    connection.close();
  }
}

describe('web: lists on a phone', function () {
  this.timeout(180_000);
  let service: TestService;
  let browser: TestBrowser;
  let tab: Tab;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
    await service.project('shop');
    const token = await service.token(SCOPES);
    const post = async (path: string, body: object): Promise<void> => {
      const { status, body: answer } = await service.request('POST', path, token, body);
      expect(status, `${path} ${JSON.stringify(answer)}`).to.be.oneOf([200, 201]);
    };
    await post('/api/errors/v1/report', {
      project: 'shop',
      error_level: 'fatal',
      exception_class: 'java.sql.SQLTransientConnectionException',
      error_message: 'The connection was closed while the answer of the database was read',
      file_path: 'src/stock/movement.ts',
      tags: ['checkout', 'night-run'],
    });
    await post('/api/errors/v1/ignore-rules', {
      match_type: 'contains',
      pattern: 'voucher',
      reason: 'People mistype.',
    });
    await post('/api/watchdog/v1/ping', { source: 'queue@warehouse', metrics: { length: 7 } });
    await post('/api/license/v1/licenses', {
      product: 'shop',
      licensee: 'Internationale Speditions- und Lagerhausgesellschaft',
      require_approval: true,
    });
    await post('/api/webhooks/v1/webhooks', {
      name: 'Alarms to the chat of the operations team',
      url: 'http://127.0.0.1:9/chat',
      events: 'monitor.down',
    });
    const published = await fetch(`${service.url}/api/updateservice/v1/publish?product=shop&version=2.4.1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
      body: packageWith('app/start.sh', '#!/bin/sh\n'),
    });
    expect(published.status, await published.text()).to.equal(201);
    const mia = ['user', 'create', '--username', 'mia', '--role', 'member', '--password-stdin'];
    await service.command(mia, ADMIN.password);
    await service.command(['store', 'selftest']);
    await service.end();
    disableWebhooks(service.dataDir);
    await service.start();
    browser = await launch(CHROMIUM);
    tab = await Tab.open(browser, service.url, 360);
    await tab.page.setViewportSize({ width: 360, height: HEIGHT });
    await tab.signIn(ADMIN.username, ADMIN.password);
    await tab.go('/webhooks');
    expect(await tab.page.getByText('20 deliveries in a row failed').count()).to.be.greaterThan(0);
    await tab.go('/notifications/new?kind=slack');
    await tab.page.getByLabel('Name', { exact: true }).fill('Night shift');
    await tab.page.getByLabel('Webhook URL').fill('https://hooks.example/night');
    await tab.page.getByRole('button', { name: 'Create channel' }).click();
    await tab.page.waitForURL(/\/notifications\/[0-9a-f-]{36}$/);
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });

  for (const [path, rows] of LISTS)
    it(`${path}: the first row is on the first screen`, async () => {
      await tab.go(path);
      const row = tab.page.locator(`main ${rows}`).first();
      const { top, bottom } = await row.evaluate((one) => {
        const box = one.getBoundingClientRect();
        return { top: box.top, bottom: box.bottom };
      });
      expect(bottom, `from ${top}`).to.be.at.most(HEIGHT);
      expect(await tab.overflow()).to.equal(0);
    });
});
