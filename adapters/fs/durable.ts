import { chmod, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolders, syncFolder } from '../../lib/folders.js';
import { splitText } from '../../lib/text/pieces.js';

/** Modes of what a web server may read (contract 40, files). */
export const OPEN_FOLDER = 0o755;
export const OPEN_FILE = 0o644;
export const OWN_FOLDER = 0o700;
export const OWN_FILE = 0o600;

export interface FileOwner {
  uid: number;
  gid: number;
}

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** Creates the folder and its parents from `root` on durably, readable for a web server. */
export async function makeFolder(root: string, folder: string, mode: number): Promise<void> {
  try {
    if (!(await isMade(folder))) return;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    // Folders above the store are private.
    if (folder === root) await makeFolders(dirname(folder), OWN_FOLDER);
    else await makeFolder(root, dirname(folder), OPEN_FOLDER);
    if (!(await isMade(folder))) return;
  }
  await chmod(folder, mode);
  await syncFolder(dirname(folder));
}

async function isMade(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Creates a file: complete and durable when `work` resolves, removed when it fails.
 * @param owner null for the writing process
 */
export async function writeNew<T>(
  path: string,
  mode: number,
  work: (file: FileHandle) => Promise<T>,
  owner: FileOwner | null = null,
): Promise<T> {
  const file = await open(path, 'wx', OWN_FILE);
  try {
    try {
      const result = await work(file);
      if (owner !== null) await file.chown(owner.uid, owner.gid);
      await file.chmod(mode);
      await file.sync();
      return result;
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

const PIECE_UNITS = 1024 * 1024;

/**
 * Replaces a text atomically.
 * @param temporary path on the same file system
 */
export async function putText(
  temporary: string,
  path: string,
  text: string,
  { mode, owner }: { mode: number; owner: FileOwner | null } = { mode: OPEN_FILE, owner: null },
): Promise<void> {
  const write = async (file: FileHandle): Promise<void> => {
    // Appends in pieces, because encoding megabytes in one call would block the event loop.
    for (const piece of splitText(text, PIECE_UNITS)) await file.writeFile(piece);
  };
  await writeNew(temporary, mode, write, owner);
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
