/** Folders that are made, and made durable. */
import { mkdir, open, readdir, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Makes the entries of a folder durable. Windows cannot open a folder, and needs no such thing. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Makes a folder and those above it. Node's `mkdir` with `recursive` never ends where a file system answers ENOENT for
 * a name below a folder that is there, as /proc does: a data directory set there by mistake would hang the start.
 * @param mode of the folders that were not there @throws the error of the file system that names the folder
 */
export async function makeFolders(folder: string, mode: number): Promise<void> {
  try {
    return await makeOne(folder, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error;
  }
  await makeFolders(dirname(folder), mode);
  await makeOne(folder, mode);
}

async function makeOne(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    // Of a folder that is there some file systems say why they would not make it (EROFS, EACCES).
    const there = await stat(folder).catch(() => null);
    if (there === null || !there.isDirectory()) throw error;
  }
}

/** The outermost folder on the way to `folder` that is not there, itself at last; null when all are. */
export async function findFirstMissing(folder: string): Promise<string | null> {
  if ((await stat(folder).catch(() => null)) !== null) return null;
  return dirname(folder) === folder ? null : ((await findFirstMissing(dirname(folder))) ?? folder);
}

/** Removes the folder with those in it, as far as they hold nothing else. */
export async function removeEmpty(folder: string): Promise<void> {
  const inside = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of inside) if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  await rmdir(folder).catch(() => undefined);
}
