/** Writes that are on the disk when they resolve, with modes that hold whatever the umask. */
import { chmod, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolders, syncFolder } from '../../lib/folders.js';
import { splitText } from '../../lib/text/pieces.js';

/** The modes of what a web server may read (contract 40, files). */
export const OPEN_FOLDER = 0o755;
export const OPEN_FILE = 0o644;
export const OWN_FOLDER = 0o700;
export const OWN_FILE = 0o600;

export interface FileOwner {
  uid: number;
  gid: number;
}

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** Makes the folder, and those above it down from `root`, readable for a web server; each is durable. */
export async function makeFolder(root: string, folder: string, mode: number): Promise<void> {
  try {
    if (!(await isMade(folder))) return;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    // Folders above the store are not for others to read.
    if (folder === root) await makeFolders(dirname(folder), OWN_FOLDER);
    else await makeFolder(root, dirname(folder), OPEN_FOLDER);
    if (!(await isMade(folder))) return;
  }
  await chmod(folder, mode);
  await syncFolder(dirname(folder));
}

/** False: it was there. */
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
 * Opens a new file for writing; the file is whole on the disk when `work` resolves, and gone when `work` fails.
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

/** Puts a text in place in one step. @param temporary beside `path` or elsewhere on the same file system */
export async function putText(
  temporary: string,
  path: string,
  text: string,
  { mode, owner }: { mode: number; owner: FileOwner | null } = { mode: OPEN_FILE, owner: null },
): Promise<void> {
  const write = async (file: FileHandle): Promise<void> => {
    // Each call continues where the last one ended. A manifest of megabytes would hold the event loop if encoded at
    // once.
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
