/**
 * `aos backup`, `restore`, `export` and `import` as an operator uses them (contract 95, command
 * line): each once by the program, beside a service that is it too; otherwise in this process.
 */
import { expect } from 'chai';
import { cp, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { verifyLicenseFile } from '../../../lib/formats/license-file.js';
import { waitUntil } from '../../harness.js';
import { buildPackage } from '../../support/archives.js';
import { durableEngines } from '../../support/durable-engines.js';
import { PASSWORD_COST, prepareDataDir } from '../../support/prepared-data-dir.js';
import { runCliInProcess, runCliJsonInProcess } from '../../support/in-process-cli.js';
import {
  ADMIN_ACCOUNT,
  runCli,
  runCliJson,
  QUIET_LOG_SETTINGS,
  buildServiceEnv,
  SHARED_KEY,
  TestService,
} from '../../support/service.js';

const LICENSE = '/api/license/v1';
const UPDATES = '/api/updateservice/v1';
const KEYS = {
  SVC_LICENSE_KEY: 'license-key-for-tests-only-0123456789',
  SVC_SECURITY__DATA_KEY: 'data-key-for-tests-only-0123456789abcdef',
};

interface Filled {
  token: string;
  license: string;
  file: string;
  keys: string[];
  hook: string;
}

interface Written {
  path: string;
  sha256: string;
  documents: number;
}

describe('backup, restore, export and import', function () {
  let folder: string;
  const services: TestService[] = [];
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-moving-'))));
  afterEach(async () => {
    for (const service of services.splice(0)) await service.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const at = (name: string): string => join(folder, name);
  async function serviceAt(name: string, extra: Record<string, string> = {}): Promise<TestService> {
    const service = await TestService.create(
      { ...QUIET_LOG_SETTINGS, SVC_RELEASE_PRIVATE_KEY: '', ...extra },
      at(name),
    );
    services.push(service);
    return service;
  }
  /** With keys of its own data directory. */
  const embeddedAt = async (name: string): Promise<TestService> => {
    const service = await serviceAt(name);
    delete service.env['SVC_RELEASE_PRIVATE_KEY'];
    return service;
  };

  /** The same, with a store as a first start leaves it. */
  const preparedAt = async (name: string): Promise<TestService> => {
    await prepareDataDir(at(name), buildServiceEnv);
    return embeddedAt(name);
  };

  async function licenseFile(service: TestService, license_key: string): Promise<string> {
    const answer = await fetch(`${service.url}${LICENSE}/file`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ license_key, product: 'shop', machine_id: 'web-1' }),
    });
    expect(answer.status).to.equal(200);
    return answer.text();
  }

  /**
   * One of each kind: a project, a token, an item, a license with a file, a published and promoted
   * release, a webhook.
   */
  async function fill(service: TestService): Promise<Filled> {
    await service.createProject('shop');
    const token = await service.createToken(
      'bugtracker:report,bugtracker:read,license:manage,webhooks:manage,updateservice:publish',
    );
    const item = await service.request('POST', '/api/bugtracker/v1/report', token, {
      project: 'shop',
      type: 'bug',
      title: 'Ünï',
      description: 'x'.repeat(3_000),
    });
    expect(item.status, JSON.stringify(item.body)).to.be.oneOf([200, 201]);
    const { body } = await service.request('POST', `${LICENSE}/licenses`, token, { product: 'shop' });
    const license = body['key'] as string;
    const published = await fetch(`${service.url}${UPDATES}/publish?product=shop&version=1.0.0`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
      body: new Uint8Array(buildPackage({ name: 'app.js', content: 'let a = 1;' })),
    });
    expect(published.status, await published.text()).to.equal(201);
    const hook = await service.request('POST', '/api/webhooks/v1/webhooks', token, {
      name: 'hook',
      url: 'https://example.org/hook',
      events: ['bug.created'],
    });
    expect(hook.status, JSON.stringify(hook.body)).to.equal(201);
    const ring = (await service.request('GET', `${LICENSE}/pubkey`, null)).body as { public_key: string };
    return {
      token,
      license,
      file: await licenseFile(service, license),
      keys: [ring.public_key],
      hook: (hook.body['webhook'] as { id: string }).id,
    };
  }

  /** What was made works, on the keys of before. */
  async function works(
    service: TestService,
    { token, license, file, keys, hook }: Filled,
    items: number,
  ): Promise<void> {
    const list = await service.request('GET', '/api/bugtracker/v1/bugs?limit=1', token);
    expect(list.status).to.equal(200);
    expect(list.body['total'] ?? items).to.equal(items);
    const validated = await service.request('POST', `${LICENSE}/validate`, null, {
      license_key: license,
      product: 'shop',
    });
    expect(validated.body).to.include({ status: 'active' });
    const now = (await service.request('GET', `${LICENSE}/pubkey`, null)).body as { public_key: string };
    expect([now.public_key]).to.deep.equal(keys);
    expect(verifyLicenseFile(file, now.public_key, { product: 'shop', machineId: 'web-1' })).to.include({
      valid: true,
    });
    // Its secret is sealed with the data key.
    expect((await service.request('POST', `/api/webhooks/v1/webhooks/${hook}/rotate`, token)).status).to.be.oneOf([
      200, 201,
    ]);
    const basic = Buffer.from(`${ADMIN_ACCOUNT.username}:${ADMIN_ACCOUNT.password}`).toString('base64');
    const path = '/releases/shop/stable/1.0.0/any/package.tar.gz';
    await waitUntil('the package is served', async () => {
      const answer = await fetch(service.url + path, { headers: { authorization: `Basic ${basic}` } });
      await answer.arrayBuffer();
      return answer.status === 200;
    });
  }

  it('restores writes acknowledged before a backup of a running service to another directory', async () => {
    const first = await preparedAt('first');
    await first.start();
    const filled = await fill(first);
    let reports = 0;
    const writing = new AbortController();
    const writer = (async () => {
      while (!writing.signal.aborted) {
        const body = { project: 'shop', type: 'bug', title: `number ${reports}` };
        if ((await first.request('POST', '/api/bugtracker/v1/report', filled.token, body)).status < 300) reports++;
        else return;
      }
    })();
    await waitUntil('some are there', () => reports > 20);
    const before = reports;
    const written = await runCliJson<{ path: string; verified: boolean }>(first.env, [
      'backup',
      at('b.tar.gz'),
      '--verify',
    ]);
    const after = reports;
    writing.abort();
    await writer;
    expect(written).to.deep.include({ path: at('b.tar.gz'), verified: true });
    if (process.platform !== 'win32') expect((await stat(at('b.tar.gz'))).mode & 0o777).to.equal(0o600);
    const pin = (await first.request('GET', `${UPDATES}/pubkey`, null)).body;
    await first.stop();

    const second = await embeddedAt('second');
    const restored = await runCliJson<{ keys: string[]; packages: number }>(second.env, ['restore', at('b.tar.gz')]);
    expect(restored).to.deep.include({ packages: 1 });
    expect(restored.keys.toSorted()).to.deep.equal(['data-key', 'license-key', 'release-key.pem']);
    expect((await readdir(at('second'))).filter((name) => name.includes('restor'))).to.deep.equal([]);
    await second.startInProcess();
    const { body } = await second.request('GET', '/api/bugtracker/v1/bugs?limit=200', filled.token);
    expect((body['items'] as unknown[]).length).to.be.within(Math.min(before + 1, 200), after + 2);
    await works(second, filled, (body['total'] as number | undefined) ?? 0);
    // An agent that pinned the key of before goes on.
    expect((await second.request('GET', `${UPDATES}/pubkey`, null)).body).to.deep.equal(pin);
    const again = await runCli(second.env, ['restore', at('b.tar.gz')]);
    expect([again.code, again.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 1 && text.includes('is running on'),
    );
    await second.stop();
    const full = await runCliInProcess(second.env, ['restore', at('b.tar.gz')]);
    expect(full.code).to.equal(1);
    expect(full.stderr).to.match(/^The target is not empty: .* contains \d+ documents? in \w+\. Choose another/);
  });

  for (const engine of durableEngines) {
    it(`exports to ${engine.name} and back with equal hashes and a working service`, async function () {
      const settings = await engine.settings();
      if (settings === null) {
        this.skip();
        return;
      }
      await prepareDataDir(at('first'), buildServiceEnv, PASSWORD_COST);
      const first = await serviceAt('first', KEYS);
      await first.startInProcess();
      const filled = await fill(first);
      await first.stop();
      const one = await runCliJsonInProcess<Written>(first.env, ['export', at('1.tar.gz')]);
      const other = await serviceAt('other', { ...settings, ...KEYS });
      const imported = await runCliJsonInProcess<Written>(other.env, ['import', at('1.tar.gz')]);
      expect(imported).to.include({ documents: one.documents, sha256: one.sha256, packages: 1 });
      if (engine.name === 'mongodb') {
        // The first start does not take another key for that of the store.
        const strange = { ...other.env, SVC_SECURITY__DATA_KEY: 'another-data-key-0123456789-abcdefghij' };
        const started = await runCliInProcess(strange, ['serve']);
        expect([started.code, started.stderr]).to.deep.equal([
          1,
          'keys: security.data_key (from environment variable SVC_SECURITY__DATA_KEY) differs from what this store is used with\n',
        ]);
      }
      const two = await runCliJsonInProcess<Written>(other.env, ['export', at('2.tar.gz')]);
      expect(two).to.deep.include({ sha256: one.sha256, documents: one.documents });
      const third = await serviceAt('third', KEYS);
      await runCliJsonInProcess(third.env, ['import', at('2.tar.gz')]);
      expect(await runCliJsonInProcess<Written>(third.env, ['export', at('3.tar.gz')])).to.include({
        sha256: one.sha256,
      });
      for (const service of [other, third]) {
        await service.startInProcess();
        await works(service, filled, 1);
        await service.stop();
      }
      // No secret in clear, and no key.
      const text = gunzipSync(await readFile(at('1.tar.gz'))).toString('latin1');
      expect(text).to.not.include(filled.license);
      const rejected = await runCliInProcess(other.env, ['import', at('1.tar.gz')]);
      expect(rejected.stderr).to.match(/^The target is not empty/);
    });
  }

  it('requires the keys of the source service for an import, and names missing keys', async () => {
    const first = await preparedAt('first');
    await runCliJson(first.env, ['export', at('e.tar.gz')]);
    const second = await embeddedAt('second');
    const { code, stderr } = await runCliInProcess(second.env, ['import', at('e.tar.gz')]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/belongs to other keys: copy .*security\.data_key.* to .*second/);
    expect(await stat(join(at('second'), 'aos.db')).catch(() => null)).to.equal(null);
    for (const key of ['data-key', 'license-key', 'release-key.pem'])
      await cp(join(at('first'), key), join(at('second'), key));
    expect((await runCli(second.env, ['import', at('e.tar.gz')])).code).to.equal(0);
    // What a first start made there does not keep a store from being empty.
    const started = await preparedAt('started');
    await started.startInProcess();
    await started.stop();
    expect((await runCliInProcess(started.env, ['import', at('e.tar.gz')])).code).to.equal(0);
  });

  it('rejects invalid calls with a one-line error, and changes nothing', async () => {
    const first = await embeddedAt('first');
    const none = await runCliInProcess(first.env, ['backup', at('x.tar.gz')]);
    expect([none.code, none.stderr]).to.deep.equal([1, `no store in ${at('first')} (set SVC_DATA_DIR)\n`]);
    await prepareDataDir(at('first'), buildServiceEnv);
    // By the program: this process would keep the store's log for a while.
    await runCliJson(first.env, ['backup', at('b.tar.gz')]);
    await runCliJson(first.env, ['export', at('e.tar.gz')]);
    const target = await embeddedAt('target');
    await writeFile(at('odd.tar.gz'), gzipSync('odd'));
    const words: [string[], RegExp][] = [
      [['backup', at('b.tar.gz')], /b\.tar\.gz already exists: choose another file\./],
      [['export', at('b.tar.gz')], /b\.tar\.gz already exists: choose another file\./],
      [['backup', join(at('no'), 'b.tar.gz')], /check that its folder exists/],
      [['backup', '--verify', at('odd.tar.gz')], /odd\.tar\.gz /],
      [['restore', at('none.tar.gz')], /none\.tar\.gz does not exist\./],
      [['restore', at('odd.tar.gz')], /odd\.tar\.gz /],
      [['restore', at('e.tar.gz')], /is an export: use `aos import`/],
      [['import', at('b.tar.gz')], /is a backup: use `aos restore`/],
      [['import', at('none.tar.gz')], /none\.tar\.gz does not exist\./],
    ];
    const files = async (): Promise<string[]> => (await readdir(folder, { recursive: true })).toSorted();
    const before = await files();
    for (const [args, why] of words) {
      const service = ['backup', 'export'].includes(args[0] ?? '') ? first : target;
      const { code, stdout } = await runCliInProcess(service.env, [...args, '--json']);
      expect(code, args.join(' ')).to.equal(1);
      const answer = JSON.parse(stdout) as { error: { message: string } };
      expect(answer.error.message).to.match(why);
    }
    expect(await files()).to.deep.equal(before);
    expect(await runCliJsonInProcess(first.env, ['backup', '--verify', at('e.tar.gz')])).to.include({
      kind: 'export',
      verified: true,
    });
  });

  it('removes day-old remains of a killed run next to the target, including copies of the store', async () => {
    const first = await preparedAt('first');
    const left = ['.copy-0a1b2c3d.partial', '.copy-0a1b2c3d.partial-wal', '.e.tar.gz.0a1b2c3d.partial'];
    const others = ['.copy-0a1b2c3e.partial', '.copy-mine.partial', 'notes.partial'];
    for (const [name, old] of [...left, 'notes.partial'].map(
      (one) => [at(one), new Date(Date.now() - 90_000_000)] as const,
    )) {
      await writeFile(name, 'x');
      await utimes(name, old, old);
    }
    for (const name of others.slice(0, 2)) await writeFile(at(name), 'x');
    expect((await runCliInProcess(first.env, ['export', at('e.tar.gz')])).code).to.equal(0);
    expect((await readdir(folder)).toSorted()).to.deep.equal([...others, 'e.tar.gz', 'first'].toSorted());
  });

  for (const name of ['backup', 'restore', 'export', 'import']) {
    it(`aos ${name} --help and usage errors open no store and create nothing`, async () => {
      const { env } = await embeddedAt('none');
      const help = await runCli(env, [name, '--help']);
      expect([help.code, help.stdout.includes(`aos ${name} <file>`)]).to.deep.equal([0, true]);
      expect((await runCli(env, [name])).code).to.equal(64);
      expect((await runCli(env, [name, 'a', '--bogus'])).code).to.equal(64);
      expect(await readdir(folder)).to.deep.equal([]);
    });
  }

  it('creates a backup before the migrations of a newer version, and prints its path', async () => {
    const service = await serviceAt('data', { SVC_PLUGINS_OFF: '["sentry","search","mcp","notifications"]' });
    await service.startInProcess();
    await service.stop();
    expect(await readdir(at('data'))).to.not.include('backups');
    // The collections of a plugin that was off are a migration.
    service.env['SVC_PLUGINS_OFF'] = '[]';
    await service.start();
    const made = (await readdir(join(at('data'), 'backups'))).filter((name) => name.endsWith('.tar.gz'));
    expect(made).to.have.length(1);
    expect(made[0]).to.match(/^aos-\d{8}T\d{6}Z-before-\d+\.\d+\.\d+.*\.tar\.gz$/);
    const { body } = await service.request('GET', '/api/health', SHARED_KEY);
    const { backups } = body['checks'] as { backups: { path: string; ok: boolean } };
    expect(backups).to.deep.include({ ok: true, path: join(at('data'), 'backups', made[0] ?? '') });
    expect(await runCliJson(service.env, ['backup', '--verify', backups.path])).to.include({
      kind: 'backup',
      releases: false,
    });
  });
});
