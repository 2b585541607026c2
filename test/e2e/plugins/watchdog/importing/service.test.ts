/**
 * The real program takes an export over, and the addresses of before go on (contract 30, beyond the
 * specification).
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openDriver } from '../../../../../adapters/sqlite/driver/open.js';
import { runCli, runCliJson, SHARED_KEY, TestService } from '../../../../support/service.js';

const UUID = '803f680d-e89b-492b-82ef-2be7b774a92d';
const PUSH = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF';

describe('aos import healthchecks | kuma', function () {
  let service: TestService;
  before(async () => (service = await TestService.createStarted({ SVC_LOG_LEVEL: 'debug' })));
  after(() => service.dispose());

  const stateOf = async (source: string): Promise<unknown> => {
    const { body } = await service.request('GET', `/api/watchdog/v1/monitors/${source}`, SHARED_KEY);
    return (body['monitor'] as { state: string }).state;
  };

  it('delivers pings and pushes to the imported monitors, and logs no address', async () => {
    const checks = join(service.dataDir, 'checks.json');
    await writeFile(
      checks,
      JSON.stringify({ checks: [{ name: 'Backup', timeout: 60, grace: 60, ping_url: `https://hc-ping.com/${UUID}` }] }),
    );
    const backup = join(service.dataDir, 'kuma.json');
    await writeFile(
      backup,
      JSON.stringify({ monitorList: [{ id: 1, name: 'Cron', type: 'push', pushToken: PUSH, interval: 60 }] }),
    );
    expect(await runCliJson(service.env, ['import', 'healthchecks', checks])).to.deep.include({
      created: ['backup'],
      notes: [],
    });
    expect(await runCliJson(service.env, ['import', 'kuma', backup])).to.deep.include({ created: ['cron'], known: [] });
    expect(await stateOf('backup')).to.equal('unknown');

    const ping = await fetch(`${service.url}/ping/${UUID}`);
    expect([ping.status, await ping.text()]).to.deep.equal([200, 'OK']);
    expect(await stateOf('backup')).to.equal('up');
    expect((await fetch(`${service.url}/ping/${UUID}/fail`, { method: 'POST', body: 'disk full' })).status).to.equal(
      200,
    );
    expect(await stateOf('backup')).to.equal('down');
    const push = await fetch(`${service.url}/api/push/${PUSH}?status=up&msg=OK&ping=`);
    expect(await push.json()).to.deep.equal({ ok: true });
    expect(await stateOf('cron')).to.equal('up');
    expect((await fetch(`${service.url}/ping/${UUID.replace('8', '9')}`)).status).to.equal(404);
    expect(service.stdout + service.stderr).not.to.match(new RegExp(`${UUID}|${PUSH}`));
  });

  it('imports monitors from an Uptime Kuma database repeatedly, and leaves the database unchanged', async () => {
    const file = join(service.dataDir, 'kuma.db');
    const database = openDriver(file);
    // As Uptime Kuma 2 has them, with the columns that are not their defaults here.
    database.exec(`
      CREATE TABLE monitor (id INTEGER PRIMARY KEY, name VARCHAR(150), active BOOLEAN NOT NULL DEFAULT 1, interval INTEGER
        NOT NULL DEFAULT 20, url TEXT, type VARCHAR(20), hostname VARCHAR(255), port INTEGER, maxretries INTEGER NOT NULL
        DEFAULT 0, ignore_tls BOOLEAN NOT NULL DEFAULT 0, upside_down BOOLEAN NOT NULL DEFAULT 0, maxredirects INTEGER NOT
        NULL DEFAULT 10, accepted_statuscodes_json TEXT NOT NULL DEFAULT '["200-299"]', retry_interval INTEGER NOT NULL
        DEFAULT 0, push_token VARCHAR(32), method TEXT NOT NULL DEFAULT 'GET', proxy_id INTEGER, expiry_notification BOOLEAN
        DEFAULT 1, resend_interval INTEGER NOT NULL DEFAULT 0, parent INTEGER, timeout DOUBLE NOT NULL DEFAULT 0);
      CREATE TABLE tag (id INTEGER PRIMARY KEY, name VARCHAR(255) NOT NULL, color VARCHAR(255) NOT NULL);
      CREATE TABLE monitor_tag (id INTEGER PRIMARY KEY, monitor_id INTEGER, tag_id INTEGER, value TEXT);
      INSERT INTO monitor (id, name, type) VALUES (1, 'Shops', 'group');
      INSERT INTO monitor (id, name, type, url, parent, timeout, accepted_statuscodes_json, proxy_id)
        VALUES (2, 'Shop', 'http', 'https://shop.invalid/', 1, 4.1, '["200-299","401"]', 1);
      INSERT INTO monitor (id, name, type, interval, push_token) VALUES (3, 'Push', 'push', 86400, '${PUSH}z');
      INSERT INTO tag VALUES (1, 'region', '#fff');
      INSERT INTO monitor_tag VALUES (1, 2, 1, 'eu');`);
    database.close();
    const before = await readFile(file);
    const report = await runCliJson(service.env, ['import', 'kuma', file]);
    expect(report).to.deep.include({ created: ['shops', 'push', 'shop'] });
    expect(JSON.stringify(report)).to.include('Proxy: probes connect directly.');
    const { body } = await service.request('GET', '/api/watchdog/v1/monitors/shop', SHARED_KEY);
    expect(body['monitor']).to.deep.include({ parent_source: 'shops', tags: ['region:eu'] });
    expect((body['monitor'] as { probe: object }).probe).to.include({
      timeout_ms: 4_100,
      expected_status: '200-299,401',
    });
    const push = await service.request('GET', '/api/watchdog/v1/monitors/push', SHARED_KEY);
    expect(push.body['monitor']).to.include({ period_seconds: 86_400 });
    const again = await runCliJson(service.env, ['import', 'kuma', file]);
    expect(again).to.deep.include({ created: [], updated: [], known: ['shops', 'push', 'shop'] });
    expect((await readFile(file)).equals(before)).to.equal(true);
    const tagged = await service.request('GET', '/api/watchdog/v1/monitors?tag=region:eu', SHARED_KEY);
    expect((tagged.body['items'] as { source: string }[]).map(({ source }) => source)).to.deep.equal(['shop']);
    await fetch(`${service.url}/api/push/${PUSH}z?status=down&msg=disk`);
    const rejected = await runCli(service.env, ['import', 'healthchecks', file]);
    expect([rejected.code, rejected.stderr.trim().split('\n').length]).to.deep.equal([1, 1]);
  });

  it('reports why a file cannot be read', async () => {
    const damaged = join(service.dataDir, 'damaged.db');
    await writeFile(damaged, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(4_000, 7)]));
    const large = join(service.dataDir, 'large.json');
    await writeFile(large, Buffer.alloc(17 * 1024 * 1024, '['));
    for (const [file, problem] of [
      [damaged, 'cannot be read as a database: the file is not a database'],
      [large, 'is larger than 16 MiB'],
      [join(service.dataDir, 'missing.db'), 'cannot be read: it does not exist'],
      [service.dataDir, 'cannot be read: EISDIR'],
    ] as const) {
      const { code, stdout } = await runCli(service.env, ['import', 'kuma', file, '--json']);
      expect(code).to.equal(1);
      expect(JSON.parse(stdout)).to.deep.equal({
        status: 'error',
        error: { code: 'validation_failed', message: 'Some fields are invalid.', fields: { file: problem } },
      });
    }
  });

  it('rejects a file that is not an export with a one-line error', async () => {
    const file = join(service.dataDir, 'none.json');
    await writeFile(file, '{}');
    const { code, stderr } = await runCli(service.env, ['import', 'kuma', file]);
    expect(code).to.equal(1);
    expect(stderr.trim().split('\n')).to.have.lengthOf(1);
    expect((await runCli(service.env, ['import', 'nagios', file])).code).to.equal(64);
  });
});
