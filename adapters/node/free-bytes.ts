import { statfs } from 'node:fs/promises';

/**
 * As `df` shows them.
 * @throws Error when the folder does not exist
 */
export async function getFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
