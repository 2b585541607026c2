/**
 * Litestream replicates the store of a running service (docs/replication.md): after the loss of the
 * data directory, a restore has everything but the writes of the last moments.
 */
import { expect } from 'chai';
import { cp, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDriver, openReadOnly } from '../../../../../adapters/sqlite/driver/open.js';
import { waitUntil } from '../../../../harness.js';
import { runCli, runCliJson, TestService } from '../../../../support/service.js';
import { hasLitestream, Litestream, startS3Server, type S3Server } from './litestream.js';

const KEY_FILES = ['data-key', 'license-key', 'release-key.pem'];
/** More than the service writes before its own checkpoint. */
const LOG_BYTES = 20 * 1024 * 1024;
const WAL_SALT = [16, 24] as const;
const HANG_MS = 60_000;

interface Acknowledged {
  ref: string;
  at: number;
}

describe('sqlite: replication by Litestream (with litestream)', function () {
  this.timeout(900_000);
  let folder: string;
  let service: TestService;
  let litestream: Litestream;
  let s3: S3Server | null;
  let token: string;
  let writing: boolean;
  const at = (name: string): string => join(folder, name);
  const getStorePath = (): string => join(service.dataDir, 'aos.db');

  before(function () {
    if (hasLitestream()) return;
    console.log(
      '      skipped: Litestream is missing; test/e2e/adapters/sqlite/replication/prepare.sh builds it with Go',
    );
    this.skip();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-replication-'));
    s3 = null;
    service = await TestService.createStarted({
      SVC_LIMITS__INTAKE_PER_MINUTE: '0',
      SVC_STORAGE__CHECKPOINTS: 'external',
    });
    await service.createProject('shop');
    token = await service.createToken('bugtracker:report,bugtracker:read', 'shop');
  });
  afterEach(async () => {
    writing = false;
    await litestream.stop('SIGKILL');
    await service.dispose();
    await s3?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const startReplication = (replicaUrl: string): void => {
    litestream = new Litestream(getStorePath(), replicaUrl);
    litestream.start();
  };

  /** Reports one bug after the other, so that the order of the answers is that of the commits. */
  const reportBugs = async (to: Acknowledged[], prefix: string): Promise<void> => {
    writing = true;
    for (;;) {
      if (!writing) return;
      const name = `${prefix}-${to.length}`;
      const body = {
        project: 'shop',
        title: name,
        client_ref: name,
        file_path: `${name}.ts`,
        description: 'x'.repeat(2_000),
      };
      const answer = await service.request('POST', '/api/bugtracker/v1/report', token, body).catch(() => null);
      if (answer === null) return;
      if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
      to.push({ ref: String(answer.body['ref']), at: Date.now() });
    }
  };

  const waitForReports = async (to: Acknowledged[], n: number, ended: Promise<void>): Promise<void> => {
    const failed = ended.then(() => Promise.reject(new Error('the reports ended')));
    await Promise.race([failed, waitUntil(`${n} reports`, () => to.length >= n)]);
  };

  /** Restores the replica next to the store. */
  const restoreCopy = async (): Promise<string> => {
    const copy = at('copy.db');
    for (const end of ['', '-wal', '-shm', '-txid']) await rm(copy + end, { force: true });
    await litestream.restore(copy);
    return copy;
  };
  /** @returns false while the replica has nothing to restore */
  const isReplicated = async (ref: string): Promise<boolean> => {
    const copy = await restoreCopy().catch((error: unknown) => {
      if (/no matching backup files|no snapshot/i.test(String(error))) return null;
      throw error;
    });
    return copy !== null && listRefs(copy).has(ref);
  };

  /** Jobs of the service may still write, so both are read again. */
  const expectReplicaEqual = async (): Promise<void> => {
    let tables: string[] = ['unknown'];
    const findDifferentTables = async (): Promise<string[]> => {
      const found = describeTables(await restoreCopy());
      const wanted = describeTables(getStorePath());
      return Object.keys(wanted).filter((name) => found[name] !== wanted[name]);
    };
    await waitUntil('the replica has the content of the store', async () => {
      tables = await findDifferentTables();
      return tables.length === 0;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; different: ${tables.join()}\n${litestream.log}`);
    });
  };

  for (const target of ['a directory', 'an S3-compatible server'])
    it(`restores everything but the last seconds from ${target} after kill -9 and the loss of the data directory`, async () => {
      if (target !== 'a directory') s3 = await startS3Server();
      startReplication(s3?.replicaUrl ?? `file://${at('replica')}`);
      for (const name of KEY_FILES) await cp(join(service.dataDir, name), at(name));
      const acknowledged: Acknowledged[] = [];
      const ended = reportBugs(acknowledged, 'Lost');
      await waitForReports(acknowledged, 100, ended);
      const replicated = acknowledged.length;
      const last = acknowledged.at(-1)?.ref ?? '';
      await waitUntil('they are replicated', () => isReplicated(last));
      await waitForReports(acknowledged, acknowledged.length + 100, ended);

      const killedAt = Date.now();
      await Promise.all([service.stop('SIGKILL'), litestream.stop('SIGKILL')]);
      await ended;
      await rm(service.dataDir, { recursive: true });
      await litestream.restore();
      for (const name of KEY_FILES) await cp(at(name), join(service.dataDir, name));
      await service.start();

      const present = listRefs(getStorePath());
      const missing = acknowledged.filter(({ ref }) => !present.has(ref));
      const first = acknowledged.length - missing.length;
      const lostMs = killedAt - (missing[0]?.at ?? killedAt);
      console.log(
        `      ${missing.length} of ${acknowledged.length} acknowledged reports lost: those of the last ${lostMs} ms`,
      );
      expect(new Set(acknowledged.map(({ ref }) => ref)).size).to.equal(acknowledged.length);
      expect(missing).to.deep.equal(acknowledged.slice(first));
      expect(first).to.be.at.least(replicated);
      expect(lostMs).to.be.below(HANG_MS);
      const { code, stdout } = await runCli(service.env, ['doctor', '--json']);
      expect(code, stdout).to.equal(0);

      litestream.start();
      const later: Acknowledged[] = [];
      const endedAgain = reportBugs(later, 'Later');
      await waitForReports(later, 20, endedAgain);
      writing = false;
      await endedAgain;
      await expectReplicaEqual();
    });

  it('is not disturbed by a backup, VACUUM, doctor, an outage of Litestream and restarts', async () => {
    startReplication(`file://${at('replica')}`);
    const acknowledged: Acknowledged[] = [];
    const ended = reportBugs(acknowledged, 'Kept');
    await waitForReports(acknowledged, 100, ended);
    await runCliJson(service.env, ['backup', at('aos.tar.gz')]);
    const driver = openDriver(getStorePath());
    driver.exec('PRAGMA busy_timeout = 60000');
    driver.exec('VACUUM');
    driver.close();
    const { code, stdout } = await runCli(service.env, ['doctor', '--json']);
    expect(code, stdout).to.equal(0);
    writing = false;
    await ended;
    await expectReplicaEqual();

    // Litestream does not see a log that the service began again meanwhile.
    await litestream.stop('SIGKILL');
    const getLog = (): Promise<Buffer> => readFile(`${getStorePath()}-wal`);
    const before = (await getLog()).subarray(...WAL_SALT).toString('hex');
    const endedAlone = reportBugs(acknowledged, 'Alone');
    await waitUntil('a long log', async () => (await stat(`${getStorePath()}-wal`)).size > LOG_BYTES, 5 * HANG_MS);
    writing = false;
    await endedAlone;
    expect((await getLog()).subarray(...WAL_SALT).toString('hex')).to.equal(before);
    litestream.start();
    await expectReplicaEqual();

    await service.stop();
    await service.start();
    await service.createProject('depot');
    await expectReplicaEqual();
    await litestream.stop('SIGTERM');
    await service.stop();
    await service.start();
    await service.createProject('garden');
    litestream.start();
    await expectReplicaEqual();
    // The service keeps the copies there to itself.
    expect((await stat(join(service.dataDir, '.aos.db-litestream'))).mode & 0o777).to.equal(0o700);
    expect(service.stderr + service.stdout).not.to.include('belong to another user');
  });
});

function listRefs(path: string): Set<string> {
  const driver = openReadOnly(path);
  try {
    const rows = driver.prepare('SELECT body FROM bugs_items').all([]);
    return new Set(rows.map(([body]) => (JSON.parse(String(body)) as { ref: string }).ref));
  } finally {
    driver.close();
  }
}

/** Hashes of the rows of tables that an idle service does not update. */
function describeTables(path: string): Record<string, string> {
  const driver = openReadOnly(path);
  try {
    const names = driver
      .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name`)
      .all([])
      .map(([name]) => String(name))
      .filter((name) => /^(bugs|projects|access_accounts)_/.test(name));
    const hash = (name: string): string => {
      const rows = driver.prepare(`SELECT * FROM "${name}"`).all([]);
      const lines = rows.map((row) => JSON.stringify(row)).toSorted();
      return `${lines.length} ${createHash('sha256').update(lines.join('\n')).digest('hex')}`;
    };
    return Object.fromEntries(names.map((name) => [name, hash(name)]));
  } finally {
    driver.close();
  }
}
