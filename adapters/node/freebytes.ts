/** Free disk space, as `df` shows it to an ordinary user. */
import { statfs } from 'node:fs/promises';

/** Bytes that may still be written below `folder`. @throws when the folder does not exist */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
