import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getErrorCode } from './files.js';

const STALE_AFTER_MS = 24 * 3_600_000;
const LEFTOVER_PATTERN = /^\..+\.[0-9a-f]{8}\.partial$|^\.copy-[0-9a-f]{8}\.partial(-wal|-shm|-journal)?$/;

const createRandomSuffix = (): string => randomUUID().slice(0, 8);

export const getPartialPath = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${createRandomSuffix()}.partial`);

export async function withStoreCopy<T>(folder: string, work: (copy: string) => Promise<T>): Promise<T> {
  const copy = join(folder, `.copy-${createRandomSuffix()}.partial`);
  try {
    return await work(copy);
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) await rm(copy + end, { force: true });
  }
}

/**
 * Removes leftovers of this user's killed runs. A missing or unlistable folder counts as empty.
 * @param now milliseconds
 */
export async function removeStaleFiles(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (['ENOENT', 'EACCES'].includes(getErrorCode(error))) return [];
    throw error;
  });
  const isOwn = ({ uid }: { uid: number }): boolean => uid === (process.getuid?.() ?? uid);
  for (const name of names.filter((one) => LEFTOVER_PATTERN.test(one))) {
    const path = join(folder, name);
    const stats = await stat(path).catch((error: unknown) => {
      if (getErrorCode(error) === 'ENOENT') return null;
      throw error;
    });
    if (stats !== null && isOwn(stats) && now - stats.mtimeMs > STALE_AFTER_MS) await rm(path, { force: true });
  }
}
