import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorCode } from '../exit.js';

export const ON_WINDOWS = process.platform === 'win32';

export async function statPath(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(getErrorCode(error))) return null;
    throw error;
  }
}

export async function useFile<T>(
  path: string,
  flags: string | number,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, flags);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** Makes names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  if (ON_WINDOWS) return;
  await useFile(path, 'r', (directory) => syncUnlessUnsupported(directory));
}

export const syncFile = (path: string): Promise<void> => useFile(path, ON_WINDOWS ? 'r+' : 'r', (file) => file.sync());

async function syncUnlessUnsupported(directory: FileHandle): Promise<void> {
  await directory.sync().catch((error: unknown) => {
    if (!['EINVAL', 'ENOTSUP', 'ENOSYS', 'EISDIR', 'EBADF'].includes(getErrorCode(error))) throw error;
  });
}

export async function writeFileAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await useFile(path, 'r', async (file) => {
    // Buffers match the size, because most files are small.
    const highWaterMark = Math.min(1024 * 1024, (await file.stat()).size + 1);
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark, signal }))
      hash.update(chunk as Buffer);
  });
  return hash.digest('hex');
}

/**
 * Windows error codes of a file that another program (a virus scanner, for example) holds briefly.
 */
const HELD_FILE_CODES = new Set(['EBUSY', 'EPERM', 'EACCES']);

export const isHeldError = (error: unknown): boolean => HELD_FILE_CODES.has(getErrorCode(error));

const HELD_TIMEOUT_MS = 10_000;
const RETRY_INTERVAL_MS = 100;

/** On Windows, and on file systems without links (contract 90, journal). */
export async function retryWhileHeld<T>(patient: boolean, work: () => Promise<T>): Promise<T> {
  const end = performance.now() + HELD_TIMEOUT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!patient || !isHeldError(error) || performance.now() > end) throw error;
      await sleep(RETRY_INTERVAL_MS);
    }
  }
}

/** Runs `work` over all items with `lanes` concurrent calls; the first error ends it. */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true && !failed; next = queue.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  const bad = ends.find((end) => end.status === 'rejected');
  if (bad !== undefined) throw bad.reason;
}
