/** A file of the store for responses. It is opened, and checked again, only when it is read. */
import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, readdir, readFile } from 'node:fs/promises';
import { FileReplaced, type StoredFile } from '../../ports/release-store.js';
import { getErrorCode } from './durable-writes.js';
import { isValidName } from './paths.js';

const READ_CHUNK_BYTES = 256 * 1024;
const allocateChunk = (): Uint8Array => Buffer.allocUnsafeSlow(READ_CHUNK_BYTES);

/** Every put creates a file with its own inode and change time, which a restart does not change. */
export const computeTag = ({ size, mtimeNs, ino }: BigIntStats): string =>
  [size, mtimeNs, ino].map((part) => part.toString(36)).join('-');

export async function statFile(path: string): Promise<BigIntStats | null> {
  try {
    const stats = await lstat(path, { bigint: true });
    return stats.isFile() ? stats : null;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(getErrorCode(error))) return null;
    throw error;
  }
}

export function createStoredFile(path: string, stats: BigIntStats): StoredFile {
  const tag = computeTag(stats);
  return {
    size: Number(stats.size),
    modifiedAt: stats.mtime,
    tag,
    read: (start, end, allocate = allocateChunk) => readFileRange(path, tag, { start, end }, allocate),
  };
}

async function* readFileRange(
  path: string,
  tag: string,
  { start, end }: { start: number; end: number },
  allocate: () => Uint8Array,
): AsyncGenerator<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch((error: unknown) => {
    throw ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(getErrorCode(error))
      ? new FileReplaced('the file no longer exists')
      : error;
  });
  try {
    if (computeTag(await file.stat({ bigint: true })) !== tag) throw new FileReplaced('the file was replaced');
    for (let at = start; at < end;) {
      const buffer = allocate();
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at);
      if (bytesRead === 0) throw new Error('the file was truncated');
      at += bytesRead;
      yield bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

export const isMissingFileError = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(getErrorCode(error));

export async function readTextFile(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissingFileError(error)) return null;
    throw error;
  }
}

export async function readFileStart(path: string, bytes: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

export async function listFolders(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && isValidName(entry.name))
      .map(({ name }) => name)
      .toSorted();
  } catch (error) {
    if (isMissingFileError(error)) return [];
    throw error;
  }
}
