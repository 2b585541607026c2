/**
 * A data directory as the first start leaves it: keys, tables, the first administrator. It is made once for all processes
 * that run tests and copied for every service after, because the tables and the password of a first start cost a second
 * of processor time. Tests of the first start itself begin with an empty directory (`TestService.first`).
 */
import { existsSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDriver } from '../../adapters/sqlite/driver/open.js';
import { loadConfig } from '../../config/load.js';
import { compose } from '../../config/compose/compose.js';
import { FIRST_START } from '../../ports/domain/access.js';
import { until } from '../harness.js';

/** With one of these the first start makes other keys, another store or another account. */
const ITS_OWN = /^SVC_(STORAGE|SECURITY|ADMIN|CONFIG$|DATA_DIR$|RELEASE_PRIVATE_KEY|LICENSE_KEY|DATA_KEY|AUTO_MIGRATE)/;

/** Whether a first start with these settings leaves what one without them leaves. */
export const isUsual = (settings: Record<string, string>): boolean =>
  !Object.keys(settings).some((name) => ITS_OWN.test(name));

const STORE = 'aos.db';
const KEYS = ['data-key', 'license-key', 'release-key.pem'];
const LOGS = new Set([`${STORE}-wal`, `${STORE}-shm`]);

/** By the cost of the administrator's password. */
const made = new Map<number | undefined, Promise<string>>();
/** What the lanes of one run share (scripts/test.mjs); without it each process has its own. */
const SHARED = process.env['SVC_TEST_SHARED'];
/** Longer than the directory takes to make on a busy machine: past it who makes it is gone. */
const MAKING_MS = 240_000;

/** bcrypt's least: a service in the process of its test makes and compares passwords in a millisecond, not in 250. */
export const PASSWORD_COST = 4;

async function temporary(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'aos-prepared-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function make(envOf: (dir: string) => NodeJS.ProcessEnv, passwordCost: number | undefined): Promise<string> {
  const dir = await temporary();
  const configuration = await loadConfig({ env: envOf(dir) });
  const threads = false;
  const service = await compose('command', {
    configuration,
    threads,
    ...(passwordCost !== undefined && { passwordCost }),
  });
  await service.boot();
  try {
    await service.kernel.service(FIRST_START)?.ensureAdmin();
  } finally {
    await service.stop();
  }
  // A connection that nobody has collected yet still holds the log, and takes it along some time: what is in it goes
  // into the store itself, and the copies are made of a directory without it.
  const driver = openDriver(join(dir, STORE));
  driver.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  driver.close();
  const kept = await temporary();
  for (const name of await readdir(dir)) {
    if (!LOGS.has(name)) await cp(join(dir, name), join(kept, name), { recursive: true, preserveTimestamps: true });
  }
  return kept;
}

/** Made by the first lane that wants it, while the others wait. */
async function shared(
  shelf: string,
  envOf: (dir: string) => NodeJS.ProcessEnv,
  passwordCost: number | undefined,
): Promise<string> {
  const place = join(shelf, `prepared-${passwordCost ?? 'usual'}`);
  if (existsSync(place)) return place;
  const first = await mkdir(`${place}.making`).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
  if (first) await cp(await make(envOf, passwordCost), `${place}.made`, { recursive: true, preserveTimestamps: true });
  if (first) await rename(`${place}.made`, place);
  else await until('the prepared directory', () => existsSync(place), MAKING_MS);
  return place;
}

/**
 * Fills a directory.
 * @param envOf the environment of a service with the usual settings
 * @param passwordCost of the administrator's password; without one that of the program
 */
export async function prepare(
  dir: string,
  envOf: (dir: string) => NodeJS.ProcessEnv,
  passwordCost?: number,
): Promise<void> {
  await cp(await preparedBy(envOf, passwordCost), dir, { recursive: true, preserveTimestamps: true });
}

/** Fills a directory with keys alone: its start is the first but for the third of a second that a release key takes. */
export async function prepareKeys(dir: string, envOf: (dir: string) => NodeJS.ProcessEnv): Promise<void> {
  const from = await preparedBy(envOf, PASSWORD_COST);
  for (const name of KEYS) await cp(join(from, name), join(dir, name), { preserveTimestamps: true });
}

function preparedBy(envOf: (dir: string) => NodeJS.ProcessEnv, passwordCost?: number): Promise<string> {
  const known = made.get(passwordCost) ?? (SHARED ? shared(SHARED, envOf, passwordCost) : make(envOf, passwordCost));
  made.set(passwordCost, known);
  return known;
}
