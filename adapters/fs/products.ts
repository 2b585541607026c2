/**
 * Determines which folders of the store are products. The store may be a web server's directory
 * (`releases.path`) with other folders, which this service never changes.
 */
import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FolderTaken } from '../../ports/release-store.js';
import { codeOf } from './durable.js';
import { LATEST, MANIFEST, PACKAGE } from './paths.js';
import { beginningOf, folders, look } from './stored-file.js';

/** First line of a product's access files (contract 40, access files). */
const SIGN = '# aos-access';
const ACCESS_FILES = ['.htaccess', '.htpasswd'];
/** Channel, version and platform. */
const LEVELS = 3;
const MOST_LOOKED_AT = 8;

export async function productsIn(store: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await folders(store)) if (await isProduct(join(store, name))) found.push(name);
  return found;
}

/**
 * Returns whether the folder has access files of this service or, if they were removed, a package.
 */
export async function isProduct(folder: string): Promise<boolean> {
  for (const name of ACCESS_FILES) if (await isSigned(join(folder, name))) return true;
  return holdsPackage(folder, LEVELS);
}

/** Temporary file of a product's first access file, left by a crash. */
const UNFINISHED = /^\.ht-/;

/**
 * Protects folders that others created, and links.
 * @throws FolderTaken
 */
export async function refuseTaken(folder: string): Promise<void> {
  const found = await othersIn(folder);
  if (found === null) return;
  throw new FolderTaken(
    `${folder} is not this service's: ${found}. Move it elsewhere, or name a directory of its own in releases.path ` +
      `(now ${dirname(folder)}).`,
  );
}

async function othersIn(folder: string): Promise<string | null> {
  let names: string[];
  try {
    if ((await lstat(folder)).isSymbolicLink()) return 'it is a link';
    names = (await readdir(folder)).filter((name) => !UNFINISHED.test(name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    if (codeOf(error) === 'ENOTDIR') return 'it is no folder';
    if (codeOf(error) === 'EACCES') return 'this user may not look into it';
    throw error;
  }
  if (names.length === 0 || (await isProduct(folder))) return null;
  return `it holds ${JSON.stringify(names.toSorted()[0]?.slice(0, 100))}`;
}

async function isSigned(path: string): Promise<boolean> {
  if ((await look(path)) === null) return false;
  try {
    return (await beginningOf(path, SIGN.length)) === SIGN;
  } catch (error) {
    // An unreadable file counts, so that products created by root are reported, not skipped.
    if (codeOf(error) === 'EACCES') return true;
    if (['ENOENT', 'ELOOP'].includes(codeOf(error))) return false;
    throw error;
  }
}

async function holdsPackage(folder: string, below: number): Promise<boolean> {
  for (const name of below === 0 ? [MANIFEST, PACKAGE] : [LATEST])
    if ((await look(join(folder, name))) !== null) return true;
  if (below === 0) return false;
  const inside = await folders(folder).catch((error: unknown) => {
    if (codeOf(error) === 'EACCES') return [];
    throw error;
  });
  for (const name of inside.slice(0, MOST_LOOKED_AT))
    if (await holdsPackage(join(folder, name), below - 1)) return true;
  return false;
}
