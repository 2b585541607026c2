/**
 * Every list on a phone (360 by 640 pixels): its first row stands within the first screen, whole.
 * Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { join } from 'node:path';
import { Connection } from '../../../adapters/sqlite/connection/connection.js';
import { performWrite } from '../../../adapters/sqlite/writing/write-requests.js';
import { useBrowser } from './use-browser.js';

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
  ['/', '.home-needs .panel-row'],
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
    const set = {
      enabled: false,
      disabled_at,
      disabled_reason: '20 consecutive deliveries failed: connection refused',
    };
    const change = JSON.stringify({ filter: { enabled: true }, update: { set } });
    connection.runTransaction(() => performWrite(connection, ['touch', 'webhooks_webhooks', change]));
  } finally {
    connection.close();
  }
}

describe('web: lists on a phone', () => {
  const web = useBrowser({
    projects: ['shop'],
    scopes: SCOPES,
    tab: { width: 360 },
    prepare: async () => {
      await web.post('/api/errors/v1/report', {
        project: 'shop',
        error_level: 'fatal',
        exception_class: 'java.sql.SQLTransientConnectionException',
        error_message: 'The connection was closed while the answer of the database was read',
        file_path: 'src/stock/movement.ts',
        tags: ['checkout', 'night-run'],
      });
      await web.post('/api/errors/v1/ignore-rules', {
        match_type: 'contains',
        pattern: 'voucher',
        reason: 'People mistype.',
      });
      await web.post('/api/watchdog/v1/ping', { source: 'queue@warehouse', metrics: { length: 7 } });
      await web.post('/api/license/v1/licenses', {
        product: 'shop',
        licensee: 'Internationale Speditions- und Lagerhausgesellschaft',
        require_approval: true,
      });
      await web.post('/api/webhooks/v1/webhooks', {
        name: 'Alarms to the chat of the operations team',
        url: 'http://127.0.0.1:9/chat',
        events: 'monitor.down',
      });
      await web.publish('shop', '2.4.1');
      await web.createMember('mia');
      const { service } = web;
      await service.runCommand(['store', 'selftest']);
      await service.stop();
      disableWebhooks(service.dataDir);
      await service.start();
    },
  });
  before(async () => {
    const { page, tab } = web;
    await page.setViewportSize({ width: 360, height: HEIGHT });
    await tab.go('/webhooks');
    expect(await page.getByText('20 consecutive deliveries failed').count()).to.be.greaterThan(0);
    await tab.go('/notifications/new?kind=slack');
    await page.getByLabel('Name', { exact: true }).fill('Night shift');
    await page.getByLabel('Webhook URL').fill('https://hooks.example/night');
    await page.getByRole('button', { name: 'Send test and save' }).click();
    await page.getByRole('button', { name: 'Save anyway' }).click();
    await page.waitForURL(/\/notifications\/[0-9a-f-]{36}$/);
  });

  for (const [path, rows] of LISTS)
    it(`${path}: shows the first row without scrolling`, async () => {
      await web.tab.go(path);
      const row = web.page.locator(`main ${rows}`).first();
      const { top, bottom } = await row.evaluate((one) => {
        const box = one.getBoundingClientRect();
        return { top: box.top, bottom: box.bottom };
      });
      expect(bottom, `from ${top}`).to.be.at.most(HEIGHT);
      expect(await web.tab.overflow()).to.equal(0);
    });
});
