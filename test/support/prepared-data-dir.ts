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
import { ADMIN_BOOTSTRAP } from '../../ports/domain/access.js';
import { waitUntil } from '../harness.js';

/** Settings that change the keys, the store or the account of a first start. */
const CUSTOM_START_SETTING =
  /^SVC_(STORAGE|SECURITY|ADMIN|CONFIG$|DATA_DIR$|RELEASE_PRIVATE_KEY|LICENSE_KEY|DATA_KEY|AUTO_MIGRATE)/;

export const hasDefaultStart = (settings: Record<string, string>): boolean =>
  !Object.keys(settings).some((name) => CUSTOM_START_SETTING.test(name));

const STORE_FILE = 'aos.db';
const KEY_FILES = ['data-key', 'license-key', 'release-key.pem'];
const LOG_FILES = new Set([`${STORE_FILE}-wal`, `${STORE_FILE}-shm`]);

const preparedDirectories = new Map<number | undefined, Promise<string>>();
const SHARED_FOLDER = process.env['SVC_TEST_SHARED'];
/**
 * Longer than the directory takes on a busy machine; after it, the creating process is considered
 * dead.
 */
const PREPARE_TIMEOUT_MS = 240_000;

/** bcrypt's minimum, so that passwords are fast to hash. */
export const PASSWORD_COST = 4;

async function createTemporaryFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'aos-prepared-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function createPrepared(
  envOf: (dir: string) => NodeJS.ProcessEnv,
  passwordCost: number | undefined,
): Promise<string> {
  const dir = await createTemporaryFolder();
  const configuration = await loadConfig({ env: envOf(dir) });
  const threads = false;
  const service = await compose('command', {
    configuration,
    threads,
    ...(passwordCost !== undefined && { passwordCost }),
  });
  await service.boot();
  try {
    await service.kernel.findService(ADMIN_BOOTSTRAP)?.ensureAdmin();
  } finally {
    await service.stop();
  }
  // A connection that is not yet garbage-collected holds the write-ahead log, so its content is
  // checkpointed and the log is not copied.
  const driver = openDriver(join(dir, STORE_FILE));
  driver.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  driver.close();
  const kept = await createTemporaryFolder();
  for (const name of await readdir(dir)) {
    if (!LOG_FILES.has(name))
      await cp(join(dir, name), join(kept, name), { recursive: true, preserveTimestamps: true });
  }
  return kept;
}

/** The first lane creates it; the others wait. */
async function getShared(
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
  if (first)
    await cp(await createPrepared(envOf, passwordCost), `${place}.made`, { recursive: true, preserveTimestamps: true });
  if (first) await rename(`${place}.made`, place);
  else await waitUntil('the prepared directory', () => existsSync(place), PREPARE_TIMEOUT_MS);
  return place;
}

/**
 * Fills a data directory.
 * @param envOf the environment of a service with the default settings
 * @param passwordCost of the administrator's password; the program's default if omitted
 */
export async function prepareDataDir(
  dir: string,
  envOf: (dir: string) => NodeJS.ProcessEnv,
  passwordCost?: number,
): Promise<void> {
  await cp(await getPrepared(envOf, passwordCost), dir, { recursive: true, preserveTimestamps: true });
}

/**
 * Fills a directory with only the keys. The start is still the first one, without generating a
 * release key.
 */
export async function prepareKeys(dir: string, envOf: (dir: string) => NodeJS.ProcessEnv): Promise<void> {
  const from = await getPrepared(envOf, PASSWORD_COST);
  for (const name of KEY_FILES) await cp(join(from, name), join(dir, name), { preserveTimestamps: true });
}

function getPrepared(envOf: (dir: string) => NodeJS.ProcessEnv, passwordCost?: number): Promise<string> {
  const known =
    preparedDirectories.get(passwordCost) ??
    (SHARED_FOLDER ? getShared(SHARED_FOLDER, envOf, passwordCost) : createPrepared(envOf, passwordCost));
  preparedDirectories.set(passwordCost, known);
  return known;
}
