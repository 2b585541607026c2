/**
 * Sets the permissions in the data directory (contract 40, files): a web server's user may traverse
 * to the release store and open nothing else.
 */
import type { Dirent } from 'node:fs';
import { chmod, chown, lstat, readdir, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import { getFileOwner, type AccessMode } from './access-mode.js';
import {
  PUBLIC_FILE_MODE,
  PUBLIC_FOLDER_MODE,
  PRIVATE_FILE_MODE,
  PRIVATE_FOLDER_MODE,
  getErrorCode,
  type FileOwner,
} from './durable-writes.js';
import { INCOMING_FOLDER, isValidName, LATEST_FILE, POOL_FOLDER } from './paths.js';
import { isProductFolder } from './products.js';

const TRAVERSE_MODE = 0o711;
/** A sticky folder such as `/tmp` is shared. */
const STICKY_BIT = 0o1000;
/**
 * Everything else keeps its modes, because it belongs to the user or the directory is shared
 * (`SVC_DATA_DIR=/etc`).
 */
const SERVICE_NAMES = new Set([
  'data-key',
  'license-key',
  'release-key.pem',
  'installer',
  'backups',
  'restore',
  'plugins.json',
  'server.json',
  'server.lock',
  'unlisted-proxies.json',
]);
/** Suffixes of temporary files, and of files that accompany the embedded store. */
const COMPANION_SUFFIX_PATTERN = /(?:\.\d+\.[0-9a-f]{8}\.tmp|\.restoring|\.lock|-wal|-shm|-journal)+$/;
const LOST_AND_FOUND = 'lost+found';

export interface ServicePaths {
  dataDir: string;
  store: string;
  others: readonly string[];
}

/**
 * Corrects the modes of the data directory, its content and the release store down to the products'
 * own files.
 */
export async function correctModes({ dataDir, store, others }: ServicePaths, access: AccessMode): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const left: string[] = [];
  const mode = async (path: string, wanted: number, owner: FileOwner | null = null, ours = true): Promise<void> => {
    try {
      const stats = await lstat(path);
      if (stats.isSymbolicLink() || (stats.mode & STICKY_BIT) !== 0) return;
      if (!ours) {
        if ((stats.mode & 0o7777) !== wanted) left.push(path);
        return;
      }
      // Group before mode, so that a web server can read the file at any time.
      if (owner !== null && (stats.uid !== owner.uid || stats.gid !== owner.gid))
        await chown(path, owner.uid, owner.gid);
      if ((stats.mode & 0o7777) !== wanted) await chmod(path, wanted);
    } catch (error) {
      if (getErrorCode(error) === 'EPERM') left.push(path);
      else if (getErrorCode(error) !== 'ENOENT') throw error;
    }
  };
  const way = getPathSegments(dataDir, store);
  await mode(dataDir, TRAVERSE_MODE, null, (await listForeignNames({ dataDir, store, others })).length === 0);
  for (const entry of await listEntries(dataDir)) {
    if (entry.name === way[0] || !(SERVICE_NAMES.has(entry.name) || isLitestreamFolder(entry.name, others))) continue;
    if (entry.isDirectory()) await mode(join(dataDir, entry.name), PRIVATE_FOLDER_MODE);
    else if (entry.isFile()) await mode(join(dataDir, entry.name), PRIVATE_FILE_MODE);
  }
  let passage = dataDir;
  for (const [at, name] of way.slice(0, -1).entries()) {
    passage = join(passage, name);
    await mode(
      passage,
      TRAVERSE_MODE,
      null,
      (await listEntries(passage)).every((entry) => entry.name === way[at + 1]),
    );
  }
  await correctStoreModes(store, access, mode, await getServiceUsers(dataDir));
  return left;
}

/** Any foreign name makes the folder shared. */
export async function listForeignNames({ dataDir, store, others }: ServicePaths): Promise<string[]> {
  const placed = new Set([store, ...others].map((path) => getPathSegments(dataDir, path)[0]));
  const isOwn = (name: string): boolean =>
    SERVICE_NAMES.has(name) || placed.has(name) || isLitestreamFolder(name, others);
  return (await listEntries(dataDir))
    .map(({ name }) => name)
    .filter((name) => name !== LOST_AND_FOUND && !isOwn(name) && !isOwn(name.replace(COMPANION_SUFFIX_PATTERN, '')));
}

/** Litestream's copies of changes, next to the store that it replicates (docs/replication.md). */
const isLitestreamFolder = (name: string, stores: readonly string[]): boolean =>
  stores.some((path) => name === `.${basename(path)}-litestream`);

function getPathSegments(folder: string, path: string): string[] {
  const inside = relative(folder, path);
  return inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)
    ? []
    : inside.split(sep);
}

/** For root also the data directory's owner. */
async function getServiceUsers(dataDir: string): Promise<readonly (number | undefined)[]> {
  const own = process.geteuid?.();
  return own === 0 ? [own, (await stat(dataDir).catch(() => null))?.uid] : [own];
}

type SetMode = (path: string, wanted: number, owner?: FileOwner | null, ours?: boolean) => Promise<void>;

/** A web server's directory may be the store; its other content keeps its modes. */
async function correctStoreModes(
  store: string,
  access: AccessMode,
  mode: SetMode,
  users: readonly (number | undefined)[],
): Promise<void> {
  const owner = (await stat(store).catch(() => null))?.uid;
  let ours = users.includes(owner);
  for (const entry of await listEntries(store)) {
    const path = join(store, entry.name);
    if (entry.name === INCOMING_FOLDER || entry.name === POOL_FOLDER) await mode(path, PRIVATE_FOLDER_MODE);
    else if (entry.isDirectory() && (await isProductFolder(path))) await correctProductModes(path, access, mode);
    else ours = false;
  }
  await mode(store, PUBLIC_FOLDER_MODE, null, ours);
}

async function correctProductModes(product: string, access: AccessMode, mode: SetMode): Promise<void> {
  await mode(product, PUBLIC_FOLDER_MODE);
  for (const own of await listEntries(product)) {
    const path = join(product, own.name);
    if (own.isDirectory() && isValidName(own.name)) await mode(path, PUBLIC_FOLDER_MODE);
    else if (!own.isFile()) continue;
    else if (own.name === '.htaccess' || own.name === LATEST_FILE) await mode(path, PUBLIC_FILE_MODE);
    // `.htpasswd`, and its temporary files left by a crash.
    else if (own.name.startsWith('.ht')) await mode(path, access.mode, await getFileOwner(product, access));
  }
}

async function listEntries(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(getErrorCode(error))) return [];
    throw error;
  }
}
