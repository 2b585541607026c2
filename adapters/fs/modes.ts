/**
 * Decides who may open what in the data directory (contract 40, files): a web server's user passes through to the
 * store, and can open nothing else.
 */
import type { Dirent } from 'node:fs';
import { chmod, chown, lstat, readdir } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { ownerIn, type AccessMode } from './access-mode.js';
import { OPEN_FILE, OPEN_FOLDER, OWN_FILE, OWN_FOLDER, codeOf, type FileOwner } from './durable.js';
import { INCOMING } from './paths.js';

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
  'server.json',
  'unlisted-proxies.json',
]);

/**
 * Corrects the modes of the data directory and its content, and of the store down to the products' own files. Answers
 * the paths that belong to another user and stay as they are.
 */
export async function correctModes(dataDir: string, store: string, access: AccessMode): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const left: string[] = [];
  const mode = async (path: string, wanted: number, owner: FileOwner | null = null): Promise<void> => {
    try {
      const stats = await lstat(path);
      if (stats.isSymbolicLink() || (stats.mode & STICKY) !== 0) return;
      // The group is set before the mode that relies on it, so that a web server can read the file at every moment.
      if (owner !== null && (stats.uid !== owner.uid || stats.gid !== owner.gid))
        await chown(path, owner.uid, owner.gid);
      if ((stats.mode & 0o7777) !== wanted) await chmod(path, wanted);
    } catch (error) {
      if (codeOf(error) === 'EPERM') left.push(path);
      else if (codeOf(error) !== 'ENOENT') throw error;
    }
  };
  await mode(dataDir, PASSAGE);
  const inside = relative(dataDir, store);
  const passage = inside !== '' && !inside.startsWith('..') && !isAbsolute(inside) ? inside.split(sep) : [];
  await correctOwn(dataDir, passage, mode, (name) => OWN.has(name));
  await mode(store, OPEN_FOLDER);
  await mode(join(store, INCOMING), OWN_FOLDER);
  for (const entry of await entries(store)) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    const product = join(store, entry.name);
    await mode(product, OPEN_FOLDER);
    for (const own of await entries(product)) {
      const path = join(product, own.name);
      if (own.isDirectory()) await mode(path, OPEN_FOLDER);
      // Secret names are `.htpasswd`, and temporary files of it that a crash left.
      else if (isSecret(own.name)) await mode(path, access.mode, await ownerIn(product, access));
      else await mode(path, OPEN_FILE);
    }
  }
  return left;
}

const isSecret = (name: string): boolean => name.startsWith('.ht') && name !== '.htaccess';

/** Corrects our folder's content, except for the folders that lead to the store. */
async function correctOwn(
  folder: string,
  [way, ...further]: readonly string[],
  mode: (path: string, wanted: number) => Promise<void>,
  isOwn: (name: string) => boolean,
): Promise<void> {
  for (const entry of await entries(folder)) {
    const path = join(folder, entry.name);
    if (entry.name === way) {
      if (further.length === 0) continue;
      await mode(path, PASSAGE);
      // Whoever may pass here could open what lies beside the way.
      await correctOwn(path, further, mode, () => true);
    } else if (!isOwn(entry.name)) continue;
    else if (entry.isDirectory()) await mode(path, OWN_FOLDER);
    else if (entry.isFile()) await mode(path, OWN_FILE);
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
