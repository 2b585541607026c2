import { chmod, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolders, syncFolder } from '../../lib/folders.js';
import { splitText } from '../../lib/text/split-text.js';

/** Modes of what a web server may read (contract 40, files). */
export const PUBLIC_FOLDER_MODE = 0o755;
export const PUBLIC_FILE_MODE = 0o644;
export const PRIVATE_FOLDER_MODE = 0o700;
export const PRIVATE_FILE_MODE = 0o600;

export interface FileOwner {
  uid: number;
  gid: number;
}

export const getErrorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** Creates the folder and its parents from `root` on durably, readable for a web server. */
export async function makeFolder(root: string, folder: string, mode: number): Promise<void> {
  try {
    if (!(await createFolderIfMissing(folder))) return;
  } catch (error) {
    if (getErrorCode(error) !== 'ENOENT') throw error;
    // Folders above the store are private.
    if (folder === root) await makeFolders(dirname(folder), PRIVATE_FOLDER_MODE);
    else await makeFolder(root, dirname(folder), PUBLIC_FOLDER_MODE);
    if (!(await createFolderIfMissing(folder))) return;
  }
  await chmod(folder, mode);
  await syncFolder(dirname(folder));
}

async function createFolderIfMissing(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Creates a file: complete and durable when `work` resolves, removed when it fails. */
export async function writeNewFile<T>(
  path: string,
  mode: number,
  work: (file: FileHandle) => Promise<T>,
  owner: FileOwner | null = null,
): Promise<T> {
  const file = await open(path, 'wx', PRIVATE_FILE_MODE);
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

const WRITE_CHUNK_CHARACTERS = 1024 * 1024;

/** Replaces a text atomically. */
export async function replaceText(
  temporary: string,
  path: string,
  text: string,
  { mode, owner }: { mode: number; owner: FileOwner | null } = { mode: PUBLIC_FILE_MODE, owner: null },
): Promise<void> {
  const write = async (file: FileHandle): Promise<void> => {
    // Encoding megabytes in one call would block the event loop.
    for (const piece of splitText(text, WRITE_CHUNK_CHARACTERS)) await file.writeFile(piece);
  };
  await writeNewFile(temporary, mode, write, owner);
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
