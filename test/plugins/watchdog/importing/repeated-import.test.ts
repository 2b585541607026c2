/**
 * Imports are repeatable: they update and never duplicate (contract 30, amendments; field reports
 * W30 and W32).
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { parseMonitorCsv } from '../../../../plugins/watchdog/importing/monitor-csv.js';
import { parseHeartbeat } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import { invalid } from '../../../../kernel/errors.js';
import { parseHealthchecks } from '../../../../plugins/watchdog/importing/healthchecks.js';
import { parseKumaBackup, parseKumaTables } from '../../../../plugins/watchdog/importing/kuma.js';
import { ANYONE, ensureCollections, fixtureOn, HOUR, type Fixture } from '../fixture.js';

const PUSH = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF';
const DAY = 86_400;

describe('repeated import of monitors', () => {
  let fixture: Fixture;
  let saved: Map<string, Record<string, unknown>>;
  beforeEach(async () => {
    saved = new Map();
    fixture = fixtureOn(await ensureCollections(new MemoryStore()));
    fixture.deps.probes = () => ({
      listUnknownFields: () => [],
      validate: async (given) => given,
      save: async (source, checked) =>
        void (checked === null ? saved.delete(source) : saved.set(source, checked as Record<string, unknown>)),
      find: async (source) => {
        const { headers: _headers, ...shown } = saved.get(source) ?? {};
        return saved.has(source) ? (shown as never) : null;
      },
      formatSummary: () => '',
      listKinds: () => [],
      getHref: () => '/',
      normalize: (given) => ({ ...(given as object) }),
      findWithSecrets: async () => null,
    });
  });
  afterEach(() => fixture.settled());

  const kuma = (...monitorList: object[]): ReturnType<typeof parseKumaBackup> =>
    parseKumaBackup(JSON.stringify({ monitorList }));

  it('matches names with equal sources, names in other scripts and rejected push tokens', async () => {
    const given = kuma(
      { id: 1, name: 'Web Shop', type: 'http', url: 'https://a.example/' },
      { id: 2, name: 'web-shop', type: 'http', url: 'https://b.example/' },
      { id: 3, name: '日本', type: 'http', url: 'https://c.example/' },
      { id: 4, name: '中国', type: 'port', hostname: 'd.example', port: 80 },
      { id: 5, name: 'Custom token', type: 'push', pushToken: 'my.token!', interval: 60 },
      { id: 6, name: 'Token short', type: 'push', pushToken: 'abc', interval: 60 },
      { id: 7, name: 'Token short', type: 'push', pushToken: null, interval: 60 },
    );
    const first = await fixture.importer.importAll(given);
    expect(first.created).to.have.lengthOf(7);
    for (let run = 2; run <= 4; run++) {
      const again = await fixture.importer.importAll(given);
      expect(again, `run ${run}`).to.deep.include({ created: [], updated: [] });
      expect(again.known.toSorted()).to.deep.equal(first.created.toSorted());
      expect(again.notes).to.deep.equal(first.notes);
    }
  });

  it('reports ping monitors when the system cannot send echoes (W27)', async () => {
    const probes = fixture.deps.probes();
    fixture.deps.probes = () => ({
      ...(probes as NonNullable<typeof probes>),
      validate: async () => {
        throw invalid({ 'probe.kind': 'icmp cannot be used: this system has no ping' });
      },
    });
    const report = await fixture.importer.importAll(
      kuma({ id: 1, name: 'Rack', type: 'ping', hostname: 'rack.example' }),
    );
    expect(report).to.deep.include({ created: ['rack'] });
    expect(report.notes.map(({ note }) => note).join()).to.include('this system has no ping');
    expect(saved.has('rack')).to.equal(false);
    fixture.clock.advance(DAY * 1_000);
    await fixture.evaluate();
    expect(await fixture.monitor('rack')).to.include({ state: 'unknown' });
  });

  it('updates changed settings', async () => {
    const shop = {
      id: 1,
      name: 'Shop',
      type: 'http',
      url: 'https://a.example/',
      interval: 60,
      headers: '{"X-Key":"k"}',
    };
    const cron = { id: 2, name: 'Cron', type: 'push', pushToken: PUSH, interval: 300 };
    await fixture.importer.importAll(kuma(shop, cron, { id: 3, name: 'Shops', type: 'group' }));
    const again = await fixture.importer.importAll(
      kuma(
        { ...shop, name: 'Our shop', url: 'https://a.example/', interval: 120, parent: 3, headers: null },
        { ...cron, interval: DAY, description: 'Nightly' },
        { id: 3, name: 'Shops', type: 'group' },
      ),
    );
    expect(again).to.deep.include({ created: [], known: ['cron', 'shops', 'shop'], updated: ['cron', 'shop'] });
    expect(await fixture.monitor('shop')).to.include({ name: 'Our shop', parent_source: 'shops' });
    expect(saved.get('shop')).to.include({ interval_seconds: 120, headers: null });
    expect(await fixture.monitor('cron')).to.include({ period_seconds: DAY, description: 'Nightly' });
    const paused = await fixture.importer.importAll(kuma({ ...shop, name: 'Our shop', active: 0 }));
    expect(paused.notes.map(({ note }) => note)).to.include('It was paused: no probe was created.');
    expect(saved.has('shop')).to.equal(false);
    expect((await fixture.monitor('shop')).parent_source).to.equal('shops');
  });

  it('replaces a schedule by a period, and preserves state and heartbeats', async () => {
    const check = { name: 'Backup', uuid: '803f680d-e89b-492b-82ef-2be7b774a92d', grace: 600 };
    await fixture.importer.importAll(
      parseHealthchecks(JSON.stringify([{ ...check, schedule: '0 3 * * *', tz: 'Europe/Berlin' }])),
    );
    await fixture.beat('backup');
    const again = await fixture.importer.importAll(
      parseHealthchecks(JSON.stringify([{ ...check, timeout: DAY, tags: 'a b' }])),
    );
    expect(again.updated).to.deep.equal(['backup']);
    const monitor = await fixture.monitor('backup');
    expect(monitor).to.include({ state: 'up', schedule: null, period_seconds: DAY, grace_seconds: 600 });
    expect(monitor.tags).to.deep.equal(['a', 'b']);
  });

  it('recreates a deleted monitor, and never changes a monitor that it did not create', async () => {
    const shop = { id: 1, name: 'shop', type: 'http', url: 'https://a.example/' };
    await fixture.beat('shop');
    expect((await fixture.importer.importAll(kuma(shop))).created).to.deep.equal(['shop-2']);
    // Another installation has the same ids.
    const other = { id: 1, name: 'Mail', type: 'port', hostname: 'mail.example', port: 25 };
    expect((await fixture.importer.importAll(kuma(other))).created).to.deep.equal(['mail']);
    await fixture.importer.importAll(kuma({ id: 2, name: 'Ours', type: 'group' }));
    expect((await fixture.importer.importAll(kuma({ id: 2, name: 'Theirs', type: 'group' }))).created).to.deep.equal([
      'theirs',
    ]);
    await fixture.probed.remove('shop-2', ANYONE);
    expect((await fixture.importer.importAll(kuma(shop))).created).to.deep.equal(['shop-2']);
  });

  it('imports the period of a push monitor, with its retries as grace period', async () => {
    await fixture.importer.importAll(
      kuma(
        { id: 1, name: 'Daily', type: 'push', pushToken: PUSH, interval: DAY, maxretries: 0 },
        {
          id: 2,
          name: 'Retried',
          type: 'push',
          pushToken: `${PUSH}x`,
          interval: 300,
          maxretries: 3,
          retryInterval: 120,
        },
      ),
    );
    expect(await fixture.monitor('retried')).to.include({ period_seconds: 300, grace_seconds: 360 });
    await fixture.beat('daily');
    fixture.clock.advance(24 * HOUR - 1_000);
    await fixture.evaluate();
    expect((await fixture.monitor('daily')).state).to.equal('up');
    fixture.clock.advance(62_000);
    await fixture.evaluate();
    expect((await fixture.monitor('daily')).state).to.equal('down');
  });

  it('learns the interval for an unsupported schedule, and raises no alarm before that', async () => {
    const check = { name: 'Odd', uuid: '803f680d-e89b-492b-82ef-2be7b774a92d', schedule: 'Mon..Fri 12:00', tz: 'UTC' };
    const report = await fixture.importer.importAll(parseHealthchecks(JSON.stringify([check])));
    expect(report.notes.map(({ note }) => note).join()).to.match(/^Omitted.*schedule/);
    await fixture.intake.recordHeartbeat(parseHeartbeat({ source: 'odd' }), ANYONE, { run: null, interval: null });
    fixture.clock.advance(100 * HOUR);
    await fixture.evaluate();
    expect((await fixture.monitor('odd')).state).to.equal('up');
  });

  it('imports CSV by column names, and updates monitors with an existing source', async () => {
    await fixture.beat('web-1');
    const csv = [
      'source;name;period_seconds;grace_seconds;tags;parent_source;url;probe.expected_status;colour',
      'web-1;"Web; ""one""";3600;60;prod,web;rack;;;',
      ';Shop;;;;;https://shop.example/;200;red',
    ].join('\r\n');
    const report = await fixture.importer.importAll(parseMonitorCsv(`\ufeff${csv}\r\n`));
    expect(report).to.deep.include({ created: ['shop'], known: ['web-1'], updated: ['web-1'] });
    expect(report.notes).to.deep.equal([{ monitor: 'shop', note: 'Column colour not found.' }]);
    expect(await fixture.monitor('web-1')).to.include({
      name: 'Web; "one"',
      period_seconds: 3600,
      parent_source: 'rack',
    });
    expect((await fixture.monitor('web-1')).tags).to.deep.equal(['prod', 'web']);
    expect(saved.get('shop')).to.deep.equal({ kind: 'http', url: 'https://shop.example/', expected_status: '200' });
    expect((await fixture.importer.importAll(parseMonitorCsv(csv))).created).to.deep.equal([]);
  });

  it('imports the same monitor from each Uptime Kuma format', () => {
    const api = {
      id: 7,
      name: 'Shop',
      type: 'http',
      url: 'https://a.example/',
      interval: 60,
      timeout: 16.1,
      maxretries: 1,
      ignoreTls: true,
      accepted_statuscodes: ['200-299', '401'],
      tags: [{ tag_id: 1, monitor_id: 7, value: 'eu', name: 'region' }],
      notificationIDList: [2],
      active: true,
    };
    const { ignoreTls, accepted_statuscodes, tags: _tags, notificationIDList: _list, ...columns } = api;
    const row = {
      ...columns,
      ignore_tls: Number(ignoreTls),
      accepted_statuscodes_json: JSON.stringify(accepted_statuscodes),
      active: 1,
    };
    const [expected] = parseKumaBackup(JSON.stringify({ monitorList: [api] }));
    expect(expected?.probe).to.deep.include({ timeout_ms: 16_100, expected_status: '200-299,401', insecure: true });
    expect(expected?.fields.tags).to.deep.equal(['region:eu']);
    const tables = {
      monitor: [row],
      tag: [{ id: 1, name: 'region', color: '#fff' }],
      monitor_tag: [{ id: 1, monitor_id: 7, tag_id: 1, value: 'eu' }],
      monitor_notification: [{ id: 1, monitor_id: 7, notification_id: 2 }],
    };
    const cells = Object.values(row).map((value) => `"${String(value).replaceAll('"', '""')}"`);
    const csv = `${Object.keys(row).join()}\n${cells.join()}\n`;
    for (const [format, found] of [
      ['the event of the API', parseKumaBackup(JSON.stringify({ 7: api }))],
      ['a list', parseKumaBackup(JSON.stringify([api]))],
      ['the database', parseKumaTables(tables)],
    ] as const)
      expect(found, format).to.deep.equal([expected]);
    expect(parseKumaBackup(csv)[0]?.probe).to.deep.equal(expected?.probe);
  });
});
