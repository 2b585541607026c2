import { statfs } from 'node:fs/promises';

/**
 * Returns the bytes that an unprivileged user may still write below `folder`, as `df` shows them.
 * @throws Error when the folder does not exist
 */
export async function getFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
