/**
 * The store may be a web server's directory (`releases.path`) with other folders, which this
 * service never changes.
 */
import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FolderTaken } from '../../ports/release-store.js';
import { getErrorCode } from './durable-writes.js';
import { LATEST_FILE, MANIFEST_FILE, PACKAGE_FILE } from './paths.js';
import { readFileStart, listFolders, statFile } from './stored-file.js';

/** First line of a product's access files (contract 40, access files). */
const ACCESS_FILE_SIGNATURE = '# aos-access';
const ACCESS_FILES = ['.htaccess', '.htpasswd'];
const PACKAGE_DEPTH = 3;
const MAX_INSPECTED_ENTRIES = 8;

export async function listProducts(store: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await listFolders(store)) if (await isProductFolder(join(store, name))) found.push(name);
  return found;
}

/** Access files of this service or, if removed, a package. */
export async function isProductFolder(folder: string): Promise<boolean> {
  for (const name of ACCESS_FILES) if (await hasAccessFileSignature(join(folder, name))) return true;
  return hasPackage(folder, PACKAGE_DEPTH);
}

/** Temporary file of a product's first access file, left by a crash. */
const UNFINISHED_PATTERN = /^\.ht-/;

/**
 * Protects folders that others created.
 * @throws FolderTaken
 */
export async function requireProductFolder(folder: string): Promise<void> {
  const found = await findForeignEntry(folder);
  if (found === null) return;
  throw new FolderTaken(
    `${folder} does not belong to this service: ${found}. Move it elsewhere, or set releases.path to a separate directory ` +
      `(now ${dirname(folder)}).`,
  );
}

async function findForeignEntry(folder: string): Promise<string | null> {
  let names: string[];
  try {
    if ((await lstat(folder)).isSymbolicLink()) return 'it is a symbolic link';
    names = (await readdir(folder)).filter((name) => !UNFINISHED_PATTERN.test(name));
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return null;
    if (getErrorCode(error) === 'ENOTDIR') return 'it is not a folder';
    if (getErrorCode(error) === 'EACCES') return 'this user cannot read it';
    throw error;
  }
  if (names.length === 0 || (await isProductFolder(folder))) return null;
  return `it contains ${JSON.stringify(names.toSorted()[0]?.slice(0, 100))}`;
}

async function hasAccessFileSignature(path: string): Promise<boolean> {
  if ((await statFile(path)) === null) return false;
  try {
    return (await readFileStart(path, ACCESS_FILE_SIGNATURE.length)) === ACCESS_FILE_SIGNATURE;
  } catch (error) {
    // An unreadable file counts, so that products created by root are reported, not skipped.
    if (getErrorCode(error) === 'EACCES') return true;
    if (['ENOENT', 'ELOOP'].includes(getErrorCode(error))) return false;
    throw error;
  }
}

async function hasPackage(folder: string, below: number): Promise<boolean> {
  for (const name of below === 0 ? [MANIFEST_FILE, PACKAGE_FILE] : [LATEST_FILE])
    if ((await statFile(join(folder, name))) !== null) return true;
  if (below === 0) return false;
  const inside = await listFolders(folder).catch((error: unknown) => {
    if (getErrorCode(error) === 'EACCES') return [];
    throw error;
  });
  for (const name of inside.slice(0, MAX_INSPECTED_ENTRIES))
    if (await hasPackage(join(folder, name), below - 1)) return true;
  return false;
}
