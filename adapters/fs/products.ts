/**
 * Which folders of the store are products. A web server's directory may be the store (`releases.path`), with folders
 * beside the products that are none of this service's: it writes nothing into them and changes no mode.
 */
import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FolderTaken } from '../../ports/release-store.js';
import { codeOf } from './durable.js';
import { LATEST, MANIFEST, PACKAGE } from './paths.js';
import { beginningOf, folders, look } from './stored-file.js';

/** How the access files of a product begin (contract 40, access files). */
const SIGN = '# aos-access';
const ACCESS_FILES = ['.htaccess', '.htpasswd'];
/** Channel, version and platform. */
const LEVELS = 3;
/** A folder of others is looked at this far. */
const MOST_LOOKED_AT = 8;

/** The products of the store, by name. */
export async function productsIn(store: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await folders(store)) if (await isProduct(join(store, name))) found.push(name);
  return found;
}

/** Whether the folder has access files that this service wrote, or, where somebody took them away, a package. */
export async function isProduct(folder: string): Promise<boolean> {
  for (const name of ACCESS_FILES) if (await isSigned(join(folder, name))) return true;
  return holdsPackage(folder, LEVELS);
}

/** What a crash leaves of the first access file of a product: it is written beside its place. */
const UNFINISHED = /^\.ht-/;

/** Nothing is written into a folder that somebody else made, or behind a link. @throws FolderTaken */
export async function refuseTaken(folder: string): Promise<void> {
  const found = await othersIn(folder);
  if (found === null) return;
  throw new FolderTaken(
    `${folder} is not this service's: ${found}. Move it elsewhere, or name a directory of its own in releases.path ` +
      `(now ${dirname(folder)}).`,
  );
}

/** Null: there is no such folder, it is empty, or a product's. */
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
    // One that this user may not open counts: a product of a command of root is told, not passed over.
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
