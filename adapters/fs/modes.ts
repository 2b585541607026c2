/**
 * Decides who may open what in the data directory (contract 40, files): a web server's user passes through to the
 * store, and can open nothing else.
 */
import type { Dirent } from 'node:fs';
import { chmod, chown, lstat, readdir, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { ownerIn, type AccessMode } from './access-mode.js';
import { OPEN_FILE, OPEN_FOLDER, OWN_FILE, OWN_FOLDER, codeOf, type FileOwner } from './durable.js';
import { INCOMING, isName, LATEST } from './paths.js';
import { isProduct } from './products.js';

/** Other users may pass, but list nothing. */
const PASSAGE = 0o711;
/** Such a folder, as `/tmp`, is everybody's. */
const STICKY = 0o1000;
/**
 * What the service makes in its data directory. All else is somebody's who put it there, or the directory is not ours
 * alone (`SVC_DATA_DIR=/etc`), and keeps its modes. The embedded store closes its own files.
 */
const OWN = new Set([
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
/** What is written beside a file of ours until it takes its place, or goes with the embedded store. */
const BESIDE = /(?:\.\d+\.[0-9a-f]{8}\.tmp|\.restoring|\.lock|-wal|-shm|-journal)+$/;
/** A file system that is mounted here has it. */
const LOST = 'lost+found';

export interface OwnPlaces {
  dataDir: string;
  /** The release store. */
  store: string;
  /** What else the configuration puts into the data directory: the embedded store, the backups. */
  others: readonly string[];
}

/**
 * Corrects the modes of the data directory and its content, and of the store down to the products' own files. A folder
 * where somebody else keeps things keeps its mode. Answers the paths whose modes are others and stay: another
 * user's, or shared.
 */
export async function correctModes({ dataDir, store, others }: OwnPlaces, access: AccessMode): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const left: string[] = [];
  const mode = async (path: string, wanted: number, owner: FileOwner | null = null, ours = true): Promise<void> => {
    try {
      const stats = await lstat(path);
      if (stats.isSymbolicLink() || (stats.mode & STICKY) !== 0) return;
      if (!ours) {
        if ((stats.mode & 0o7777) !== wanted) left.push(path);
        return;
      }
      // The group is set before the mode that relies on it, so that a web server can read the file at every moment.
      if (owner !== null && (stats.uid !== owner.uid || stats.gid !== owner.gid))
        await chown(path, owner.uid, owner.gid);
      if ((stats.mode & 0o7777) !== wanted) await chmod(path, wanted);
    } catch (error) {
      if (codeOf(error) === 'EPERM') left.push(path);
      else if (codeOf(error) !== 'ENOENT') throw error;
    }
  };
  const way = within(dataDir, store);
  await mode(dataDir, PASSAGE, null, (await strangersIn({ dataDir, store, others })).length === 0);
  for (const entry of await entries(dataDir)) {
    if (entry.name === way[0] || !OWN.has(entry.name)) continue;
    if (entry.isDirectory()) await mode(join(dataDir, entry.name), OWN_FOLDER);
    else if (entry.isFile()) await mode(join(dataDir, entry.name), OWN_FILE);
  }
  let passage = dataDir;
  for (const [at, name] of way.slice(0, -1).entries()) {
    passage = join(passage, name);
    await mode(
      passage,
      PASSAGE,
      null,
      (await entries(passage)).every((entry) => entry.name === way[at + 1]),
    );
  }
  await correctStore(store, access, mode, await serviceUsers(dataDir));
  return left;
}

/**
 * Names of what lies in the data directory and was not made by the service: a folder that has some is not ours alone.
 */
export async function strangersIn({ dataDir, store, others }: OwnPlaces): Promise<string[]> {
  const placed = new Set([store, ...others].map((path) => within(dataDir, path)[0]));
  const isOwn = (name: string): boolean => OWN.has(name) || placed.has(name);
  return (await entries(dataDir))
    .map(({ name }) => name)
    .filter((name) => name !== LOST && !isOwn(name) && !isOwn(name.replace(BESIDE, '')));
}

/** The names that lead from the folder to a path below it; none to one elsewhere. */
function within(folder: string, path: string): string[] {
  const inside = relative(folder, path);
  return inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)
    ? []
    : inside.split(sep);
}

/** Who runs the service: this process's user, and where that is root, as in a command, the data directory's owner. */
async function serviceUsers(dataDir: string): Promise<readonly (number | undefined)[]> {
  const own = process.geteuid?.();
  return own === 0 ? [own, (await stat(dataDir).catch(() => null))?.uid] : [own];
}

type SetMode = (path: string, wanted: number, owner?: FileOwner | null, ours?: boolean) => Promise<void>;

/** A web server's directory may be the store, with things of its own beside the products: they keep their modes. */
async function correctStore(
  store: string,
  access: AccessMode,
  mode: SetMode,
  users: readonly (number | undefined)[],
): Promise<void> {
  const owner = (await stat(store).catch(() => null))?.uid;
  let ours = users.includes(owner);
  for (const entry of await entries(store)) {
    const path = join(store, entry.name);
    if (entry.name === INCOMING) await mode(path, OWN_FOLDER);
    else if (entry.isDirectory() && (await isProduct(path))) await correctProduct(path, access, mode);
    else ours = false;
  }
  await mode(store, OPEN_FOLDER, null, ours);
}

async function correctProduct(product: string, access: AccessMode, mode: SetMode): Promise<void> {
  await mode(product, OPEN_FOLDER);
  for (const own of await entries(product)) {
    const path = join(product, own.name);
    if (own.isDirectory() && isName(own.name)) await mode(path, OPEN_FOLDER);
    else if (!own.isFile()) continue;
    else if (own.name === '.htaccess' || own.name === LATEST) await mode(path, OPEN_FILE);
    // Secret names are `.htpasswd`, and temporary files of it that a crash left.
    else if (own.name.startsWith('.ht')) await mode(path, access.mode, await ownerIn(product, access));
  }
}

async function entries(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return [];
    throw error;
  }
}
