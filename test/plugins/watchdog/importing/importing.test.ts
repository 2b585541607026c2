/**
 * Moving from Healthchecks and Uptime Kuma: their exports, and their addresses afterwards (contract
 * 30).
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { parseMonitorCsv } from '../../../../plugins/watchdog/importing/monitor-csv.js';
import { parseHealthchecks } from '../../../../plugins/watchdog/importing/healthchecks.js';
import { NotImportable, createSource } from '../../../../plugins/watchdog/importing/imported-monitor.js';
import { parseKumaBackup } from '../../../../plugins/watchdog/importing/kuma.js';
import { MONITOR_SOURCE_PATTERN } from '../../../../ports/domain/watchdog.js';
import { ANYONE, ensureCollections, fixtureOn, type Fixture } from '../fixture.js';

const UUID = '803f680d-e89b-492b-82ef-2be7b774a92d';
const CHECKS = JSON.stringify({
  checks: [
    {
      name: 'Nightly backup (Berlin)',
      slug: 'nightly-backup',
      tags: 'db prod',
      desc: 'All of it',
      grace: 3600,
      n_pings: 12,
      status: 'up',
      channels: '4ec5a071-2d08-4baa-898a-eb4eb3cd6941',
      methods: '',
      ping_url: `https://hc-ping.com/${UUID}`,
      schedule: '15 5 * * *',
      tz: 'Europe/Berlin',
    },
    {
      name: 'Every ten',
      slug: '',
      grace: 300,
      timeout: 600,
      status: 'paused',
      uuid: 'f618072a-7bde-4eee-af63-71a77c5723bc',
    },
    { name: 'Odd', grace: 60, schedule: 'Mon..Fri 12:00', tz: 'UTC', unique_key: 'x' },
  ],
});
const PUSH = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF';
const BACKUP = JSON.stringify({
  version: '1.23.13',
  notificationList: [],
  monitorList: [
    {
      id: 2,
      name: 'Shop',
      type: 'http',
      url: 'https://shop.example/',
      interval: 30,
      maxretries: 2,
      timeout: 48,
      parent: 1,
      active: true,
      accepted_statuscodes: ['200-299', '401'],
      maxredirects: 10,
      headers: '{"X-Key":"k"}',
      notificationIDList: { 1: true },
    },
    { id: 1, name: 'All of it', type: 'group', interval: 60, active: true },
    { id: 3, name: 'Cron', type: 'push', pushToken: PUSH, interval: 300, active: true },
    { id: 4, name: 'DB', type: 'port', hostname: 'db.example', port: 5432, interval: 10, active: true },
    { id: 5, name: 'Box', type: 'docker', interval: 60, active: true },
    {
      id: 6,
      name: 'Odd',
      type: 'json-query',
      url: 'http://169.254.169.254/',
      jsonPath: '$.a.b',
      expectedValue: '1',
      active: true,
    },
  ],
});

describe('importing monitors', () => {
  let fixture: Fixture;
  beforeEach(async () => (fixture = fixtureOn(await ensureCollections(new MemoryStore()))));
  afterEach(() => fixture.settled());

  it('creates sources from any name', () => {
    expect(createSource('Nightly backup (Berlin)')).to.equal('nightly-backup-berlin');
    for (const name of ['Äpfel & Öl', '../..', '日本', 'a/../b', './x', '-.-', 'x'.repeat(500)]) {
      expect(MONITOR_SOURCE_PATTERN.test(createSource(name)), `${name} → ${createSource(name)}`).to.equal(true);
    }
  });

  it('rejects an invalid export', () => {
    for (const text of ['', '[', '{}', '{"checks":3}', 'null'])
      expect(() => parseHealthchecks(text), text).to.throw(NotImportable);
    expect(parseHealthchecks('{"checks":[null,3,"x"]}')).to.deep.equal([]);
  });

  it('rejects a CSV file whose header has thousands of columns', () => {
    const wide = `name${',x'.repeat(100_000)}\n${'a\n'.repeat(100_000)}`;
    expect(() => parseMonitorCsv(wide)).to.throw(NotImportable);
  });

  it('imports a chain of parents from the top, and breaks cycles', async () => {
    const rows = Array.from({ length: 40 }, (_, i) => `c${i},${i === 0 ? '' : `c${i - 1}`}`).toReversed();
    const circle = ['r1,r2', 'r2,r3', 'r3,r1', 'lost,nowhere'];
    const text = ['source,parent_source,group', ...[...rows, ...circle].map((row) => `${row},true`)].join('\n');
    const { created } = await fixture.importer.importAll(parseMonitorCsv(text));
    expect(created.filter((source) => source.startsWith('c'))).to.deep.equal(rows.map((_, i) => `c${i}`));
    expect(created).to.include.members(['r1', 'r2', 'r3', 'lost']);
  });

  it('rejects more monitors than the limit, and states the number', async () => {
    const checks = (count: number): ReturnType<typeof parseHealthchecks> =>
      parseHealthchecks(
        JSON.stringify({
          checks: Array.from({ length: count }, (_, i) => ({
            name: `Many ${i % 2}`,
            timeout: 60,
            grace: 60,
            unique_key: `m${i}`,
          })),
        }),
      );
    const rejected = await fixture.importer.importAll(checks(10_001)).catch((error: unknown) => error);
    expect((rejected as { fields?: object }).fields).to.deep.equal({
      file: 'has 10001 monitors; one import can have at most 10000: split the file',
    });
    const reported: string[] = [];
    await fixture.importer.importAll(checks(250), (done, all) => reported.push(`${done} of ${all}`));
    expect(reported).to.deep.equal(['100 of 250', '200 of 250']);
  });

  it('imports checks with schedule and period, and reports unsupported settings', async () => {
    const report = await fixture.importer.importAll(parseHealthchecks(CHECKS));
    expect(report.created).to.deep.equal(['nightly-backup', 'every-ten', 'odd']);
    expect(await fixture.monitor('nightly-backup')).to.include({
      name: 'Nightly backup (Berlin)',
      description: 'All of it',
      schedule: '15 5 * * *',
      timezone: 'Europe/Berlin',
      grace_seconds: 3600,
    });
    expect((await fixture.monitor('nightly-backup')).tags).to.deep.equal(['db', 'prod']);
    expect(await fixture.monitor('every-ten')).to.include({
      interval_seconds: null,
      schedule: null,
      period_seconds: 600,
    });
    expect((await fixture.monitor('odd')).schedule).to.equal(null);
    const notes = report.notes.map(({ monitor, note }) => `${monitor}: ${note}`).join('\n');
    for (const reported of [
      'nightly-backup: Integrations',
      'every-ten: It was paused',
      'odd: The ping URL',
      'odd: Omitted',
    ])
      expect(notes).to.include(reported);
    expect(await fixture.addresses.findSource(UUID)).to.equal('nightly-backup');
  });

  it('is idempotent, and adds a number to the source of another monitor with the same name', async () => {
    await fixture.beat('cron');
    expect((await fixture.importer.importAll(parseKumaBackup(BACKUP))).created).to.include('cron-2');
    const again = await fixture.importer.importAll(parseKumaBackup(BACKUP));
    expect(again.created).to.deep.equal([]);
    expect(again.known).to.have.lengthOf(6);
  });

  it('imports groups as parents, and Uptime Kuma checks as probes', async () => {
    const saved = new Map<string, unknown>();
    fixture.deps.probes = () => ({
      listUnknownFields: () => [],
      validate: async (given) => given,
      save: async (source, checked) => void saved.set(source, checked),
      find: async () => null,
      formatSummary: () => '',
      listKinds: () => [],
      getHref: () => '/',
      normalize: (given) => ({ ...(given as object) }),
      findWithSecrets: async () => null,
    });
    const report = await fixture.importer.importAll(parseKumaBackup(BACKUP));
    expect(report.created[0]).to.equal('all-of-it');
    expect((await fixture.monitor('shop')).parent_source).to.equal('all-of-it');
    expect(saved.get('shop')).to.deep.equal({
      kind: 'http',
      url: 'https://shop.example/',
      method: 'GET',
      redirects: 5,
      expected_status: '200-299,401',
      headers: { 'X-Key': 'k' },
      interval_seconds: 30,
      retries: 2,
      timeout_ms: 30_000,
    });
    expect(saved.get('db')).to.include({ kind: 'tcp', host: 'db.example', port: 5432, interval_seconds: 20 });
    expect(saved.get('odd')).to.include({ json_path: 'a.b', json_value: '1' });
    expect([...saved.keys()]).to.not.include('box');
    expect(report.notes.map(({ note }) => note)).to.include('Monitors of type docker are not supported.');
  });

  it('never sends NTLM, OAuth or certificate passwords by another scheme, such as Basic', () => {
    const basic = Buffer.from('corp:hunter2').toString('base64');
    for (const [scheme, sent] of [
      [{ authMethod: 'ntlm' }, false],
      [{ auth_method: 'ntlm' }, false],
      [{ authMethod: 'NTLM' }, false],
      [{ authMethod: 'oauth2-cc' }, false],
      [{ authMethod: 'mtls' }, false],
      [{ authMethod: 'basic' }, true],
      // As Uptime Kuma wrote it before it had other schemes.
      [{ authMethod: null }, true],
      [{}, true],
    ] as const) {
      const monitor = { id: 1, name: 'a', type: 'http', url: 'https://a.test/', ...scheme };
      const secrets = { basic_auth_user: 'corp', basic_auth_pass: 'hunter2', headers: '{"X-Key":"k"}' };
      const [one] = parseKumaBackup(JSON.stringify({ monitorList: [{ ...monitor, ...secrets }] }));
      const headers = { 'X-Key': 'k', ...(sent && { Authorization: `Basic ${basic}` }) };
      expect(one?.probe).to.deep.include({ headers });
      expect(
        one?.notes.some((note) => note.startsWith('Its credentials for')),
        JSON.stringify(scheme),
      ).to.equal(!sent);
    }
  });

  it('deletes ping URLs with their monitor', async () => {
    await fixture.importer.importAll(parseKumaBackup(BACKUP));
    expect(await fixture.addresses.findSource(PUSH)).to.equal('cron');
    expect(await fixture.addresses.findSource(`${PUSH}x`)).to.equal(null);
    await fixture.monitors.remove('cron', ANYONE);
    expect(await fixture.addresses.findSource(PUSH)).to.equal(null);
  });
});
