/**
 * `aos doctor`, the help and usage errors: what they say, and that they touch nothing (contract 95,
 * command line). The doctor looks from this process; where nothing is yet, and beside a service,
 * the program does.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MOVES_COLLECTION } from '../../../adapters/archive/transfer/contents.js';
import { SqliteStore } from '../../../adapters/sqlite/store.js';
import { Connection } from '../../../adapters/sqlite/connection/connection.js';
import { waitUntil } from '../../harness.js';
import { PASSWORD_COST, prepareDataDir } from '../../support/prepared-data-dir.js';
import { runCliInProcess } from '../../support/in-process-cli.js';
import { runCli, QUIET_LOG_SETTINGS, buildServiceEnv, SHARED_KEY, TestService } from '../../support/service.js';

interface Report {
  ok: boolean;
  items: { check: string; ok: boolean; detail: string; mend: string | null }[];
  skipped: string[];
}

describe('doctor and usage errors', function () {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-doctor-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const env = (extra: Record<string, string> = {}): NodeJS.ProcessEnv => buildServiceEnv(join(folder, 'data'), extra);
  const left = (): Promise<string[]> => readdir(folder);

  async function doctor(
    extra: Record<string, string> = {},
    run: typeof runCliInProcess = runCliInProcess,
  ): Promise<Report & { code: number | null }> {
    const { code, stdout } = await run(env(extra), ['doctor', '--json']);
    return { ...(JSON.parse(stdout) as Report), code };
  }
  const faults = (report: Report): string[] => report.items.filter(({ ok }) => !ok).map(({ check }) => check);

  for (const [words, code] of [
    [['--help'], 0],
    [['token', 'create', '--help'], 0],
    [['token', '--help'], 0],
    [['user', 'create', '--role', 'admin'], 64],
    [['token', 'create', '--bogus'], 64],
    [['nosuch', 'command'], 64],
    [['serve', '--bogus'], 64],
    [[], 64],
  ] as [string[], number][]) {
    it(`aos ${words.join(' ')}: exits ${code}, and creates nothing`, async () => {
      const { code: ended, stdout, stderr } = await runCli(env({ SVC_STORAGE_URL: 'sqlite:aos.db' }), words);
      expect(ended, stderr).to.equal(code);
      expect(`${stdout}${stderr}`).to.include('aos ');
      expect(await left()).to.deep.equal([]);
    });
  }

  it('warns about X-Forwarded-For from an unlisted proxy in doctor, health and /system', async () => {
    await prepareDataDir(join(folder, 'data'), buildServiceEnv, PASSWORD_COST);
    const service = await TestService.create(QUIET_LOG_SETTINGS, join(folder, 'data'));
    await service.startInProcess();
    try {
      expect(faults(await doctor())).to.deep.equal([]);
      const ask = await fetch(`${service.url}/api/license/v1/pubkey`, {
        headers: { 'x-forwarded-for': '203.0.113.7' },
      });
      expect(ask.status).to.equal(200);
      const { body } = await service.request('GET', '/api/health', SHARED_KEY);
      expect(body).to.have.nested.property('checks.proxies.ok', false);
      expect(body).to.have.deep.nested.property('checks.proxies.unlisted', ['127.0.0.1']);
      expect(body).to.have.property('healthy', true);
      await waitUntil('it is written down', () => existsSync(join(folder, 'data', 'unlisted-proxies.json')));
      const found = await doctor();
      expect(faults(found)).to.deep.equal(['proxies']);
      const item = found.items.find(({ check }) => check === 'proxies');
      expect(item?.detail).to.contain('127.0.0.1').and.not.to.contain('203.0.113.7');
      expect(item?.mend).to.contain('server.trusted_proxies');
      expect(faults(await doctor({ SVC_SERVER__TRUSTED_PROXIES: '["127.0.0.0/8"]' }))).to.deep.equal([]);
    } finally {
      await service.stop();
    }
  });

  it('reports a release store that belongs to another user', async function () {
    if (process.geteuid?.() !== 0) this.skip();
    const releases = join(folder, 'data', 'releases');
    await mkdir(join(releases, 'shop'), { recursive: true });
    await writeFile(join(releases, 'shop', '.htaccess'), '# aos-access format=3 product=shop\n');
    await chmod(join(folder, 'data'), 0o700);
    expect(faults(await doctor())).to.deep.equal(['store']);
    await chown(join(releases, 'shop'), 12_345, 12_345);
    const found = await doctor();
    expect(faults(found)).to.deep.equal(['release store']);
    const item = found.items.find(({ check }) => check === 'release store');
    expect(item?.detail).to.equal(`${join(releases, 'shop')} and ${join(folder, 'data')} belong to different users`);
    expect(item?.mend).to.include('chown -R');
  });

  it('reports only the missing store before the first start, and creates nothing', async () => {
    const report = await doctor({}, runCli);
    expect(faults(report), JSON.stringify(report)).to.deep.equal(['store']);
    const missing = report.items.find(({ check }) => check === 'store');
    expect(missing?.detail).to.equal(`no store in ${join(folder, 'data')} (set SVC_DATA_DIR)`);
    expect(missing?.mend).to.include('start the service');
    expect(report.code).to.equal(1);
    expect(report.items.map(({ check }) => check)).to.include.members([
      'configuration',
      'data directory',
      'store',
      'plugins',
    ]);
    expect(await left()).to.deep.equal([]);
  });

  for (const [fault, extra, prepare] of [
    ['configuration', { SVC_PORT: 'eighty' }, null],
    ['configuration', { SVC_NOSUCH__KEY: '1' }, null],
    ['store', { SVC_STORAGE_URL: 'sqlite:broken.db' }, 'broken.db'],
    ['keys', {}, 'data-key'],
    ['data directory', {}, 'open'],
    ['plugins', {}, 'plugins'],
  ] as [string, Record<string, string>, string | null][]) {
    it(`reports only ${fault}${Object.keys(extra).length > 0 ? ` (${Object.keys(extra).join()})` : ''}`, async () => {
      const data = join(folder, 'data');
      await mkdir(data, { mode: 0o700 });
      const settings = { ...extra };
      if (prepare === 'open') await chmod(data, 0o755);
      else if (prepare === 'plugins') {
        settings['SVC_CONFIG'] = join(folder, 'mine.json');
        await writeFile(settings['SVC_CONFIG'], JSON.stringify({ plugins: ['./not-there.mjs'] }));
      } else if (prepare !== null) await writeFile(join(data, prepare), 'too short'.repeat(2), { mode: 0o600 });
      const report = await doctor(settings);
      // The summary of the plugins, and the plugin itself.
      const named = fault === 'plugins' ? [fault, 'plugin ./not-there.mjs'] : [fault];
      expect(faults(report), JSON.stringify(report)).to.deep.equal(named);
      expect(report.code).to.equal(1);
      expect(report.items.find(({ ok }) => !ok)?.mend)
        .to.be.a('string')
        .and.not.equal('');
    });
  }

  /** A plugin from outside whose health says what `start` and this text make of it. */
  const outside = async (health: string): Promise<string> => {
    const config = join(folder, 'mine.json');
    const body = `let started = false;
      export default { id: 'oncall', version: '1.0.0', api: 1, title: 'On call',
        setup: () => ({ start: async () => { started = true; }, health: async () => (${health}) }) };`;
    await writeFile(join(folder, 'oncall.mjs'), body);
    await writeFile(config, JSON.stringify({ plugins: ['./oncall.mjs'] }));
    return config;
  };

  it('reports the backup folder of the embedded store without a running service', async () => {
    const service = await TestService.create();
    try {
      const { stdout } = await runCli(service.env, ['doctor', '--json']);
      const found = (JSON.parse(stdout) as Report).items.find(({ check }) => check === 'plugin backups');
      expect(found).to.include({ ok: true });
      expect(found?.detail).to.include(`path ${join(service.dataDir, 'backups')}`);
    } finally {
      await service.dispose();
    }
  });

  it('reports the state of each plugin, before the first start and next to a running service', async () => {
    const config = await outside("{ ok: !started, pager: started ? 'no answer' : 'not asked' }");
    const before = await doctor({ SVC_CONFIG: config });
    expect(before.items.find(({ check }) => check === 'plugin oncall')).to.deep.include({ ok: true, detail: 'ready' });
    expect(before.items.map(({ check }) => check)).to.include.members([
      'plugin bugs',
      'plugin watchdog',
      'plugin access',
    ]);
    expect(faults(before)).to.deep.equal(['store']);
    const service = await TestService.createStarted({ SVC_CONFIG: config });
    try {
      const { code, stdout } = await runCli(service.env, ['doctor', '--json']);
      const report = JSON.parse(stdout) as Report;
      expect(code).to.equal(1);
      expect(faults(report), stdout).to.deep.equal(['plugin oncall']);
      const found = report.items.find(({ check }) => check === 'plugin oncall');
      expect(found?.detail).to.equal('ready, not ok, pager no answer');
      expect(found?.mend).to.include('plugins_off');
      await service.stop();
      const stopped = await runCliInProcess(service.env, ['doctor']);
      expect(stopped.stdout).to.match(/ok {4}plugin oncall +ready, pager not asked/);
      expect(stopped.code, stopped.stdout).to.equal(0);
    } finally {
      await service.dispose();
    }
  });

  it('reports a MongoDB server that does not respond', async () => {
    const report = await doctor({
      SVC_STORAGE_URL: 'mongodb://127.0.0.1:9/aos',
      SVC_RELEASE_PRIVATE_KEY: '',
      SVC_LICENSE_KEY: 'license-key-for-tests-only-0123456789',
      SVC_SECURITY__DATA_KEY: 'data-key-for-tests-only-0123456789abcdef',
    });
    expect(faults(report), JSON.stringify(report)).to.deep.equal(['store']);
    expect(report.skipped).to.deep.equal(['migrations']);
  });

  it('serve --json: prints one JSON document, and logs to stderr', async () => {
    const service = await TestService.create({ SVC_LOG_LEVEL: 'info' });
    const running = service.start(['serve', '--json']).catch(() => undefined);
    try {
      while (!service.stdout.includes('\n')) await new Promise((resolve) => setTimeout(resolve, 20));
      const document = JSON.parse(service.stdout) as { url: string; pid: number };
      expect(document).to.include({ pid: service.child?.pid });
      expect((await fetch(`${document.url}/api/health/live`)).status).to.equal(200);
      const { stdout, stderr } = service;
      expect(await service.stop()).to.equal(0);
      expect(stdout.trim().split('\n')).to.have.lengthOf(1);
      expect(stderr).to.include('"ready"');
      await running;
    } finally {
      await service.dispose();
    }
  });

  describe('doctor: embedded store', () => {
    const file = (): string => join(folder, 'data', 'aos.db');
    const run = async (...words: string[]): Promise<Report> =>
      JSON.parse(
        (await runCliInProcess(env({ SVC_STORAGE_URL: 'sqlite:aos.db' }), ['doctor', '--json', ...words])).stdout,
      ) as Report;
    const itemOf = ({ items }: Report, name: string) => items.find(({ check }) => check === name);
    const made = (): Promise<void> => prepareDataDir(join(folder, 'data'), buildServiceEnv, PASSWORD_COST);

    it('is corrupt or not a database: prints the fix with the newest backup', async () => {
      await mkdir(join(folder, 'data', 'backups'), { recursive: true, mode: 0o700 });
      await chmod(join(folder, 'data'), 0o700);
      await writeFile(file(), 'this is no database '.repeat(500), { mode: 0o600 });
      const nothing = itemOf(await run(), 'store');
      expect(nothing).to.include({ ok: false });
      expect(nothing?.detail).to.include('not a database');
      expect(nothing?.mend).to.include('set storage.url to the right file').and.include('your own backup');
      for (const name of ['aos-20261101T000000Z.tar.gz', 'aos-20261102T000000Z-before-1.2.0.tar.gz', 'zz.tar.gz'])
        await writeFile(join(folder, 'data', 'backups', name), '');
      expect(itemOf(await run(), 'store')?.mend)
        .to.include('aos restore ')
        .and.include('aos-20261102T000000Z-before');
    });

    it('is partially imported: prints the archive and the fix', async () => {
      await made();
      expect(itemOf(await run(), 'import')).to.include({ ok: true, detail: 'no interrupted import' });
      const store = new SqliteStore({ path: file(), durability: 'full' });
      await store.connect();
      const mark = { id: 'import', archive: '/mnt/all.tar.gz', started_at: '2026-11-24T08:00:00.000Z' };
      await store.collection(MOVES_COLLECTION).insert(mark);
      await store.close();
      const half = itemOf(await run(), 'import');
      expect(half).to.include({ ok: false });
      expect(half?.detail).to.include('the import of /mnt/all.tar.gz').and.include('was interrupted');
      expect(half?.mend).to.include('run the import again');
    });

    it('has a damaged row: reports the row only with --deep, which reads all rows', async () => {
      await made();
      expect(itemOf(await run('--deep'), 'stored data')?.detail).to.match(/^\d+ documents are readable$/);
      const connection = new Connection({ path: file(), durability: 'full' });
      connection.driver.exec(
        `UPDATE kernel_migrations SET body = CAST(substr(body, 1, 20) || x'ff' || substr(body, 22) AS TEXT)
           WHERE rowid = (SELECT max(rowid) FROM kernel_migrations)`,
      );
      connection.close();
      const deep = itemOf(await run('--deep'), 'stored data');
      expect(deep).to.include({ ok: false });
      expect(deep?.detail).to.match(/of kernel_migrations: .*UTF-8/);
      expect(deep?.mend).to.include('replaced or removed').and.include('move ');
      expect(itemOf(await run(), 'stored data')).to.equal(undefined);
    });
  });
});
