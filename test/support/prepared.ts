/**
 * A data directory after the first start: keys, tables, the first administrator. It is created once
 * for all test processes and copied for every service, because a first start is slow. Tests of the
 * first start itself use an empty directory (`TestService.createEmpty`).
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

/** Settings that change the keys, the store or the account of a first start. */
const ITS_OWN = /^SVC_(STORAGE|SECURITY|ADMIN|CONFIG$|DATA_DIR$|RELEASE_PRIVATE_KEY|LICENSE_KEY|DATA_KEY|AUTO_MIGRATE)/;

export const isUsual = (settings: Record<string, string>): boolean =>
  !Object.keys(settings).some((name) => ITS_OWN.test(name));

const STORE = 'aos.db';
const KEYS = ['data-key', 'license-key', 'release-key.pem'];
const LOGS = new Set([`${STORE}-wal`, `${STORE}-shm`]);

const made = new Map<number | undefined, Promise<string>>();
const SHARED = process.env['SVC_TEST_SHARED'];
/**
 * Longer than the directory takes on a busy machine; after it, the creating process is considered
 * dead.
 */
const MAKING_MS = 240_000;

/** bcrypt's minimum, so that passwords are fast to hash. */
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
  // A connection that is not yet garbage-collected holds the write-ahead log, so its content is
  // checkpointed and the log is not copied.
  const driver = openDriver(join(dir, STORE));
  driver.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  driver.close();
  const kept = await temporary();
  for (const name of await readdir(dir)) {
    if (!LOGS.has(name)) await cp(join(dir, name), join(kept, name), { recursive: true, preserveTimestamps: true });
  }
  return kept;
}

/** The first lane creates it; the others wait. */
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
 * Fills a data directory.
 * @param envOf the environment of a service with the default settings
 * @param passwordCost of the administrator's password; the program's default if omitted
 */
export async function prepare(
  dir: string,
  envOf: (dir: string) => NodeJS.ProcessEnv,
  passwordCost?: number,
): Promise<void> {
  await cp(await preparedBy(envOf, passwordCost), dir, { recursive: true, preserveTimestamps: true });
}

/**
 * Fills a directory with only the keys. The start is still the first one, without generating a
 * release key.
 */
export async function prepareKeys(dir: string, envOf: (dir: string) => NodeJS.ProcessEnv): Promise<void> {
  const from = await preparedBy(envOf, PASSWORD_COST);
  for (const name of KEYS) await cp(join(from, name), join(dir, name), { preserveTimestamps: true });
}

function preparedBy(envOf: (dir: string) => NodeJS.ProcessEnv, passwordCost?: number): Promise<string> {
  const known = made.get(passwordCost) ?? (SHARED ? shared(SHARED, envOf, passwordCost) : make(envOf, passwordCost));
  made.set(passwordCost, known);
  return known;
}
