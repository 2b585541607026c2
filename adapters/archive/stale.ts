/**
 * Temporary files that a killed backup or export leaves next to its target (docs/consistency.md).
 */
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from './files.js';

const STALE_MS = 24 * 3_600_000;
const LEFT = /^\..+\.[0-9a-f]{8}\.partial$|^\.copy-[0-9a-f]{8}\.partial(-wal|-shm|-journal)?$/;

const mark = (): string => randomUUID().slice(0, 8);

export const partialOf = (path: string): string => join(dirname(path), `.${basename(path)}.${mark()}.partial`);

export async function withCopy<T>(folder: string, work: (copy: string) => Promise<T>): Promise<T> {
  const copy = join(folder, `.copy-${mark()}.partial`);
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
export async function removeStale(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (['ENOENT', 'EACCES'].includes(codeOf(error))) return [];
    throw error;
  });
  const isOwn = ({ uid }: { uid: number }): boolean => uid === (process.getuid?.() ?? uid);
  for (const name of names.filter((one) => LEFT.test(one))) {
    const path = join(folder, name);
    const stats = await stat(path).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (stats !== null && isOwn(stats) && now - stats.mtimeMs > STALE_MS) await rm(path, { force: true });
  }
}
