/**
 * Writes an archive to a temporary file, renamed when it is complete and synced, so that the target
 * is never partial.
 */
import { createHash } from 'node:crypto';
import { link, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Header } from 'tar/header';
import { syncFolder } from '../../../lib/folders.js';
import { getErrorCode, fileExists, writePieces } from '../files.js';
import { getPartialPath } from '../temporary-files.js';
import { HASHES_ENTRY, HEAD_ENTRY, type ArchiveHead } from './head.js';

const BLOCK_BYTES = 512;
const PRIVATE_FILE_MODE = 0o600;
/** Fast: packages are already compressed and stores are large. */
const GZIP_LEVEL = 1;
const WRITE_CHUNK_BYTES = 1024 * 1024;

export interface ArchiveEntry {
  path: string;
  size: number;
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Expected hash in hex, where known; other content fails the write. */
  sha256?: string;
}

export interface EntryHash {
  path: string;
  size: number;
  /** Hex. */
  sha256: string;
}

export interface WrittenArchive {
  path: string;
  bytes: number;
  entries: EntryHash[];
}

export function createTextEntry(path: string, text: string): ArchiveEntry {
  const bytes = Buffer.from(text);
  return { path, size: bytes.length, content: [bytes] };
}

/**
 * @throws Error (one sentence) when the file exists or does not fit; errors of the entries. Nothing
 *   is left behind.
 */
export async function writeArchive(
  path: string,
  head: ArchiveHead,
  entries: AsyncIterable<ArchiveEntry>,
): Promise<WrittenArchive> {
  await requireMissingFile(path);
  const partial = getPartialPath(path);
  const hashes: EntryHash[] = [];
  try {
    const file = await open(partial, 'wx', PRIVATE_FILE_MODE);
    try {
      const gzip = createGzip({ level: GZIP_LEVEL, chunkSize: WRITE_CHUNK_BYTES });
      await pipeline(
        Readable.from(buildTar(head, entries, hashes), { objectMode: false }),
        gzip,
        (packed: AsyncIterable<Uint8Array>) => writePieces(file, packed),
      );
      await file.sync();
    } finally {
      await file.close();
    }
    const { size } = await stat(partial);
    await link(partial, path);
    await syncFolder(dirname(path));
    return { path, bytes: size, entries: hashes };
  } catch (error) {
    throw toReadableError(error, path);
  } finally {
    await rm(partial, { force: true });
  }
}

export async function requireMissingFile(path: string): Promise<void> {
  const there = await fileExists(path).catch((error: unknown) => {
    throw toReadableError(error, path);
  });
  if (there) throw new Error(`${path} already exists: choose another file.`);
  // Checked before the store is copied there, which would fail with a less clear error.
  await stat(dirname(path)).catch((error: unknown) => {
    throw toReadableError(error, path);
  });
}

export function toReadableError(error: unknown, path: string): unknown {
  const code = getErrorCode(error);
  if (code === 'EEXIST') return new Error(`${path} already exists: choose another file.`, { cause: error });
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Error(`Not enough disk space for ${path}: free some space, or choose a file on another disk.`, {
      cause: error,
    });
  if (code === 'ENOENT') return new Error(`${path} cannot be created: check that its folder exists.`, { cause: error });
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return new Error(`${path} cannot be written: ${code}.`, { cause: error });
  return error;
}

async function* buildTar(
  head: ArchiveHead,
  entries: AsyncIterable<ArchiveEntry>,
  hashes: EntryHash[],
): AsyncGenerator<Buffer> {
  yield* buildTarEntry(createTextEntry(HEAD_ENTRY, `${JSON.stringify(head, null, 2)}\n`), hashes);
  for await (const entry of entries) yield* buildTarEntry(entry, hashes);
  yield* buildTarEntry(createTextEntry(HASHES_ENTRY, `${JSON.stringify({ entries: hashes }, null, 1)}\n`), []);
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

async function* buildTarEntry(
  { path, size, content, sha256 }: ArchiveEntry,
  hashes: EntryHash[],
): AsyncGenerator<Buffer> {
  const block = Buffer.alloc(BLOCK_BYTES);
  const header = new Header({ path, size, mode: PRIVATE_FILE_MODE, uid: 0, gid: 0, mtime: new Date(0), type: 'File' });
  if (header.encode(block)) throw new Error(`${path} cannot be the name of an entry`);
  yield block;
  const hash = createHash('sha256');
  let written = 0;
  for await (const piece of content) {
    written += piece.length;
    if (written > size) break;
    hash.update(piece);
    yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  }
  const found = hash.digest('hex');
  if (written !== size || (sha256 !== undefined && sha256 !== found))
    throw new Error(`${path} changed while it was being copied: try again.`);
  hashes.push({ path, size, sha256: found });
  yield Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}
