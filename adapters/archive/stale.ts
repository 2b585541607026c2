/** Files that a backup or an export leaves beside its target when it is killed (docs/consistency.md). */
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from './files.js';

/** No run is under way for so long. */
const STALE_MS = 24 * 3_600_000;
const LEFT = /^\..+\.[0-9a-f]{8}\.partial$|^\.copy-[0-9a-f]{8}\.partial(-wal|-shm|-journal)?$/;

const mark = (): string => randomUUID().slice(0, 8);

/** Where an archive is written until it is whole. */
export const partialOf = (path: string): string => join(dirname(path), `.${basename(path)}.${mark()}.partial`);

/** Copies the store beside the target, for as long as `work` needs the copy. */
export async function withCopy<T>(folder: string, work: (copy: string) => Promise<T>): Promise<T> {
  const copy = join(folder, `.copy-${mark()}.partial`);
  try {
    return await work(copy);
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) await rm(copy + end, { force: true });
  }
}

/**
 * Removes what runs of this user left that were killed. A folder that is not there holds none, and one may be
 * written to that cannot be listed.
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
