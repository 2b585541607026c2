/**
 * Reads an archive in one pass; returns only when it is complete: every entry has the listed hash,
 * and there are no others.
 */
import { createReadStream } from 'node:fs';
import { readPackage, UnsafePackage, type FileEntry } from '../../../lib/formats/archive.js';
import { getErrorCode } from '../files.js';
import {
  HASHES_ENTRY,
  HEAD_ENTRY,
  parseArchiveHead,
  parseArchiveJson,
  type ArchiveHead,
  type ArchiveKind,
} from './head.js';
import { ArchiveRejectedError } from './archive-rejected-error.js';
import type { EntryHash } from './writer.js';

const MAX_ENTRIES = 400_000;
const MAX_HEAD_BYTES = 16 * 1024 * 1024;
const MAX_HASHES_BYTES = 128 * 1024 * 1024;
/**
 * Maximum compression ratio: an emptied store is mostly zeros, which gzip shrinks to a thousandth.
 */
const MAX_COMPRESSION_RATIO = 1_050;

export interface ArchiveSummary {
  head: ArchiveHead;
  entries: readonly EntryHash[];
}

/**
 * Unread content is skipped.
 * @throws ArchiveRejected for an entry that does not belong in this kind
 */
export type EntryHandler = (entry: FileEntry, content: AsyncIterable<Uint8Array>, head: ArchiveHead) => Promise<void>;

/**
 * @param kind null accepts both
 * @throws ArchiveRejected; Error (one sentence) when the file cannot be read; errors of `take`
 */
export async function readArchive(path: string, kind: ArchiveKind | null, take: EntryHandler): Promise<ArchiveSummary> {
  let head: ArchiveHead | null = null;
  let hashes: string | null = null;
  const onFile = async (entry: FileEntry, content: AsyncIterable<Uint8Array>): Promise<void> => {
    if (hashes !== null) throw new ArchiveRejectedError(`has ${entry.path} after ${HASHES_ENTRY}`);
    if (head === null) {
      if (entry.path !== HEAD_ENTRY) throw new ArchiveRejectedError('is not an AOS archive');
      head = parseArchiveHead(await readEntryText(entry, content, MAX_HEAD_BYTES));
      if (kind !== null && head.kind !== kind) throw new ArchiveRejectedError(KIND_HINTS[head.kind]);
    } else if (entry.path === HASHES_ENTRY) hashes = await readEntryText(entry, content, MAX_HASHES_BYTES);
    else await take(entry, content, head);
  };
  const limits = { entries: MAX_ENTRIES, unpackedBytes: Number.MAX_SAFE_INTEGER, ratio: MAX_COMPRESSION_RATIO };
  try {
    const source = createReadStream(path, { highWaterMark: 1024 * 1024 });
    const { files } = await readPackage(source, { platform: 'linux-x64', onFile, limits });
    if (head === null || hashes === null) throw new ArchiveRejectedError(`ends without ${HASHES_ENTRY}`);
    const entries = files.map(({ path: name, size, sha256 }) => ({ path: name, size, sha256 }));
    compareHashes(entries, parseArchiveJson(hashes));
    return { head, entries };
  } catch (error) {
    throw toArchiveError(error, path);
  }
}

const KIND_HINTS: Readonly<Record<ArchiveKind, string>> = {
  backup: 'is a backup: use `aos restore`',
  export: 'is an export: use `aos import`',
};

/** @throws ArchiveRejected when it is larger than `most` bytes */
export async function readEntryText(
  entry: FileEntry,
  content: AsyncIterable<Uint8Array>,
  most: number,
): Promise<string> {
  if (entry.size > most) throw new ArchiveRejectedError(`contains ${entry.path} with more than ${most} bytes`);
  const pieces: Uint8Array[] = [];
  // The reader reuses its buffer.
  for await (const piece of content) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
}

function compareHashes(found: readonly EntryHash[], listing: unknown): void {
  const listed = (listing as { entries?: unknown } | null)?.entries;
  if (!Array.isArray(listed) || listed.some((entry) => typeof entry !== 'object' || entry === null))
    throw new ArchiveRejectedError(`has a ${HASHES_ENTRY} without entries`);
  const hashes = new Map((listed as EntryHash[]).map((entry) => [entry.path, entry]));
  for (const { path, size, sha256 } of found) {
    if (path === HASHES_ENTRY) continue;
    const entry = hashes.get(path);
    if (entry === undefined)
      throw new ArchiveRejectedError(`contains ${path}, which its ${HASHES_ENTRY} does not list`);
    if (entry.size !== size || entry.sha256 !== sha256)
      throw new ArchiveRejectedError(`contains ${path} with different content`);
    hashes.delete(path);
  }
  const [missing] = hashes.keys();
  if (missing !== undefined) throw new ArchiveRejectedError(`lacks ${missing}`);
}

function toArchiveError(error: unknown, path: string): unknown {
  if (error instanceof ArchiveRejectedError)
    return Object.assign(new ArchiveRejectedError(error.why), { message: `${path} ${error.why}.` });
  if (error instanceof UnsafePackage) {
    const why =
      error.entry === '' ? error.why.replace(/^The package /, '') : `contains a rejected entry: ${error.message}`;
    return Object.assign(new ArchiveRejectedError(why), { message: `${path} ${why}.` });
  }
  if (getErrorCode(error) === 'ENOENT') return new Error(`${path} does not exist.`, { cause: error });
  return error;
}
