import { mkdir, open, readdir, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Makes directory entries durable. */
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
 * Creates a folder and its parents: Node's recursive `mkdir` loops forever on file systems such as
 * /proc that return ENOENT below an existing folder.
 * @throws the file system's error with the folder
 */
export async function makeFolders(folder: string, mode: number): Promise<void> {
  try {
    return await makeFolder(folder, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error;
  }
  await makeFolders(dirname(folder), mode);
  await makeFolder(folder, mode);
}

async function makeFolder(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    // Some file systems report EROFS or EACCES for existing folders.
    const there = await stat(folder).catch(() => null);
    if (there === null || !there.isDirectory()) throw error;
  }
}

/** Returns the outermost missing folder on the way to `folder`. */
export async function findFirstMissing(folder: string): Promise<string | null> {
  if ((await stat(folder).catch(() => null)) !== null) return null;
  return dirname(folder) === folder ? null : ((await findFirstMissing(dirname(folder))) ?? folder);
}

/** Removes a folder and its subfolders unless they hold other files. */
export async function removeEmptyFolders(folder: string): Promise<void> {
  const inside = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of inside) if (entry.isDirectory()) await removeEmptyFolders(join(folder, entry.name));
  await rmdir(folder).catch(() => undefined);
}
