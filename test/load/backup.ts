/**
 * `npm run bench -- backup` (`BENCH_ITEMS`): what a backup costs the service that runs, and what backup, restore, export and import
 * take of time and memory, on the embedded store and on the MongoDB at SVC_TEST_MONGODB_URL (docs/benchmarks.md). `npm run bench --
 * million`: the times and the memory alone, on the embedded store, of a million items.
 */
import autocannon from 'autocannon';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import type { Doc } from '../../ports/store.js';
import { packageOf } from '../support/archives.js';
import { ADMIN, aos, CLI, serviceEnv, TestService } from '../support/service.js';
import { median } from './generator.js';
import { hashed } from './licenses.js';
import { residentMb } from './measure.js';
import { seedItems } from './seed.js';

const RELEASES = Number(process.env['BENCH_RELEASES'] ?? 200);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 20);
const WARM_UP = Number(process.env['BENCH_WARM_UP'] ?? 20);
/** Between two measured runs. */
const SETTLE = 5;
/** Of the load that a backup stands beside. */
const REPORTS_PER_SECOND = 300;
const KEYS = {
  SVC_RELEASE_PRIVATE_KEY: '',
  SVC_LICENSE_KEY: 'license-key-for-tests-only-0123456789',
  SVC_SECURITY__DATA_KEY: 'data-key-for-tests-only-0123456789abcdef',
};

export interface BackupBench {
  say: (text: string) => void;
  items: number;
  /** Reports of the load. */
  bodies: readonly string[];
  /** Settings of a service whose limits are not what is measured. */
  unlimited: Record<string, string>;
  /** Times and memory alone, without load and without MongoDB. */
  onlyTimes?: boolean;
}

/** The service makes no backups of its own beside those that are measured. */
const NO_OWN = { SVC_BACKUPS__EVERY_HOURS: '0' };

interface Took {
  seconds: number;
  /** Resident, at most. */
  mb: number;
  answer: Record<string, unknown>;
}

async function measured(env: NodeJS.ProcessEnv, args: string[]): Promise<Took> {
  const began = performance.now();
  const child = spawn(process.execPath, [CLI, ...args, '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let mb = 0;
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const look = setInterval(() => {
    residentMb(child.pid ?? 0).then(
      (now) => (mb = Math.max(mb, now)),
      () => undefined,
    );
  }, 50);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearInterval(look);
  if (code !== 0) throw new Error(`aos ${args.join(' ')} → ${code}: ${out}`);
  return { seconds: (performance.now() - began) / 1000, mb, answer: JSON.parse(out) as Record<string, unknown> };
}

const told = (say: BackupBench['say'], what: string, { seconds, mb }: Took, more = ''): void =>
  say(`  ${what.padEnd(26)} ${seconds.toFixed(1).padStart(7)} s   ${mb.toFixed(0).padStart(5)} MB   ${more}`);

/** A payload of about 3 KB beside each item, a tenth of it alike. */
async function payloads(file: string, items: number): Promise<void> {
  const store = new SqliteStore({ path: file, durability: 'normal' });
  await store.connect();
  const rows = store.collection<Doc & { text: string }>('bugs_occurrences');
  for (let n = 0; n < items; n += 500) {
    const row = (i: number) => ({ insert: { id: `seeded-${n + i}`, text: `${Math.sin(n + i)} ${n + i} `.repeat(75) } });
    await rows.bulk(Array.from({ length: Math.min(500, items - n) }, (_, i) => row(i)));
  }
  await store.close();
}

async function fill(service: TestService, items: number): Promise<{ token: string; license: string; report: string }> {
  await service.start();
  await service.project('bench');
  const report = await service.token('bugtracker:report,bugtracker:read');
  const token = await service.token('updateservice:publish,license:manage');
  for (let n = 0; n < RELEASES; n++) {
    const answer = await fetch(`${service.url}/api/updateservice/v1/publish?product=bench&version=1.0.${n}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
      body: new Uint8Array(packageOf({ name: 'app.js', content: `let a = ${n}; ${'x'.repeat(50_000)}` })),
    });
    if (answer.status !== 201) throw new Error(`a release answered ${answer.status}: ${await answer.text()}`);
  }
  let license = '';
  for (let n = 0; n < 20; n++) {
    const { body } = await service.request('POST', '/api/license/v1/licenses', token, { product: 'bench' });
    license = body['key'] as string;
  }
  for (let n = 0; n < 5; n++)
    await aos(
      service.env,
      ['user', 'create', '--username', `u${n}`, '--role', 'member', '--password-stdin'],
      ADMIN.password,
    );
  await service.end();
  seedItems(service.dataDir, ['bench'], items, { now: Date.now(), open: false });
  await payloads(join(service.dataDir, 'aos.db'), items);
  return { token, license, report };
}

async function works(
  say: BackupBench['say'],
  service: TestService,
  { token, license, report }: Awaited<ReturnType<typeof fill>>,
): Promise<void> {
  await service.start();
  const listed = await service.request('GET', '/api/bugtracker/v1/bugs?limit=5', report);
  const validated = await service.request('POST', '/api/license/v1/validate', null, {
    license_key: license,
    product: 'bench',
  });
  const released = await service.request('GET', '/api/updateservice/v1/releases?product=bench', token);
  say(`  works: items ${listed.status}, license ${String(validated.body['status'])}, releases ${released.status}`);
  await service.end();
}

/** As the service makes one by itself: in a process of its own with a low priority. @throws Error when it was not made */
function madeBySelf(path: string, dataDir: string): Promise<void> {
  const program = join(CLI, '..', '..', 'composition', 'backup-process.js');
  const store = join(dataDir, 'aos.db');
  const job = { path, store, dataDir, releases: join(dataDir, 'releases'), version: 'bench', keys: {} };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, JSON.stringify(job)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    let told: unknown = null;
    child.on('message', (answer) => (told = answer));
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`a backup beside the load failed: ${JSON.stringify(told)}`));
    });
  });
}

/** The same load without and with backups, in turns; each measured run begins on a service that is under this load already. */
async function beside(
  { say, bodies }: BackupBench,
  service: TestService,
  report: string,
  folder: string,
): Promise<void> {
  await service.start();
  await hashed(service.dataDir);
  const run = async (seconds: number): Promise<number[]> => {
    const requests = bodies.map((body) => ({
      method: 'POST' as const,
      path: '/api/errors/v1/report',
      headers: { authorization: `Bearer ${report}`, 'content-type': 'application/json' },
      body,
    }));
    const result = await autocannon({
      url: service.url,
      connections: 16,
      duration: seconds,
      overallRate: REPORTS_PER_SECOND,
      requests,
    });
    if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} failed`);
    return [result.latency.p50, result.latency.p97_5, result.latency.p99];
  };
  const alone: number[][] = [];
  const during: number[][] = [];
  let made = 0;
  let largest = 0;
  const withBackups = async (): Promise<number[]> => {
    const end = new AbortController();
    const backing = (async () => {
      while (!end.signal.aborted) {
        const path = join(folder, `beside-${made++}.tar.gz`);
        await madeBySelf(path, service.dataDir);
        largest = Math.max(largest, (await stat(join(service.dataDir, 'aos.db-wal'))).size);
        await rm(path, { force: true });
      }
    })();
    const figures = await run(SECONDS);
    end.abort();
    await backing;
    return figures;
  };
  await run(WARM_UP);
  for (let round = 0; round < ROUNDS; round++) {
    // What the last run left, as the log after a backup, is over; and neither kind always comes first.
    const turns = [async () => alone.push(await run(SECONDS)), async () => during.push(await withBackups())];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) {
      await run(SETTLE);
      await turn();
    }
  }
  const row = (what: string, all: number[][]): void =>
    say(
      `  ${what.padEnd(26)} p50 ${median(all.map(([a = 0]) => a))} ms, p97.5 ${median(all.map(([, a = 0]) => a))} ms, p99 ${median(all.map(([, , a = 0]) => a))} ms   (${all.map((one) => one[2]).join(', ')})`,
    );
  say(
    `${REPORTS_PER_SECOND} reports a second, ${ROUNDS} rounds of ${SECONDS} s in turns; ${made} backups were made, one after the other; log at most ${(largest / 1e6).toFixed(0)} MB`,
  );
  row('alone', alone);
  row('beside backups', during);
  const [without, beside] = [alone, during].map((all) => median(all.map(([, , p99 = 0]) => p99)));
  say(
    `  p99 beside backups ${(((beside ?? NaN) / (without ?? NaN) - 1) * 100).toFixed(0)} % more (target: less than 33)`,
  );
  await service.end();
}

export async function backupFigures(bench: BackupBench): Promise<void> {
  const { say, items } = bench;
  const unlimited = { ...bench.unlimited, ...NO_OWN };
  const began = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'aos-bench-backup-'));
  try {
    const first = await TestService.create({ ...unlimited, ...KEYS }, join(folder, 'first'));
    const made = await fill(first, items);
    say(
      `${items} items with payloads, ${RELEASES} releases; store ${((await stat(join(first.dataDir, 'aos.db'))).size / 1e6).toFixed(0)} MB`,
    );
    say(`  filled in ${((performance.now() - began) / 1000).toFixed(0)} s`);
    if (bench.onlyTimes !== true && process.env['BENCH_BESIDE'] !== '0')
      await beside(bench, first, made.report, folder);
    const backup = await measured(first.env, ['backup', join(folder, 'b.tar.gz')]);
    told(say, 'backup', backup, `${(Number(backup.answer['bytes']) / 1e6).toFixed(0)} MB`);
    told(say, 'backup --verify', await measured(first.env, ['backup', '--verify', join(folder, 'b.tar.gz')]));
    const restored = await TestService.create({ ...unlimited, ...KEYS }, join(folder, 'restored'));
    told(say, 'restore', await measured(restored.env, ['restore', join(folder, 'b.tar.gz')]));
    const sums: unknown[] = [];
    const exported = async (env: NodeJS.ProcessEnv, n: number): Promise<string> => {
      const path = join(folder, `${n}.tar.gz`);
      const took = await measured(env, ['export', path]);
      sums.push(took.answer['sha256']);
      told(
        say,
        `export ${n}`,
        took,
        `${String(took.answer['documents'])} documents, ${(Number(took.answer['bytes']) / 1e6).toFixed(0)} MB`,
      );
      return path;
    };
    let file = await exported(first.env, 1);
    if (bench.onlyTimes !== true) await exported(restored.env, 2);
    const mongo = bench.onlyTimes === true ? undefined : process.env['SVC_TEST_MONGODB_URL'];
    if (mongo !== undefined && process.env['BENCH_MONGODB'] !== '0') {
      const url = new URL(`/aos_bench_${process.pid}`, mongo).href;
      const between = serviceEnv(join(folder, 'between'), { ...unlimited, ...KEYS, SVC_STORAGE_URL: url });
      told(say, 'import into MongoDB', await measured(between, ['import', file]));
      file = await exported(between, 3);
    }
    const last = await TestService.create({ ...unlimited, ...KEYS }, join(folder, 'last'));
    told(say, 'import', await measured(last.env, ['import', file]));
    await exported(last.env, 4);
    say(`  equal by hash: ${String(new Set(sums).size === 1)} (${String(sums[0])})`);
    for (const service of [restored, last]) await works(say, service, made);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
