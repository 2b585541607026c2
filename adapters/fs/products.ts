/**
 * Which folders of the store are products. A web server's directory may be the store (`releases.path`), with folders
 * beside the products that are none of this service's: it writes nothing into them and changes no mode.
 */
import { join } from 'node:path';
import { codeOf } from './durable.js';
import { LATEST, MANIFEST } from './paths.js';
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
  if ((await look(join(folder, below === 0 ? MANIFEST : LATEST))) !== null) return true;
  if (below === 0) return false;
  const inside = await folders(folder).catch((error: unknown) => {
    if (codeOf(error) === 'EACCES') return [];
    throw error;
  });
  for (const name of inside.slice(0, MOST_LOOKED_AT))
    if (await holdsPackage(join(folder, name), below - 1)) return true;
  return false;
}
