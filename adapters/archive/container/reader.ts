/**
 * Reads an archive strictly in one pass and bounded memory. It only returns when the archive is
 * complete: every entry has the listed hash, and there are no others.
 */
import { createReadStream } from 'node:fs';
import { readPackage, UnsafePackage, type FileEntry } from '../../../lib/formats/archive.js';
import { codeOf } from '../files.js';
import { HASHES_ENTRY, HEAD_ENTRY, headOf, parsed, type ArchiveHead, type ArchiveKind } from './head.js';
import { ArchiveRejected } from './rejected.js';
import type { EntryHash } from './writer.js';

const MOST_ENTRIES = 400_000;
const MAX_HEAD_BYTES = 16 * 1024 * 1024;
const MAX_HASHES_BYTES = 128 * 1024 * 1024;
/**
 * Maximum compression ratio: an emptied store is mostly zeros, which gzip shrinks to a thousandth.
 */
const RATIO = 1_050;

export interface ReadArchive {
  head: ArchiveHead;
  entries: readonly EntryHash[];
}

/**
 * Receives one entry; unread content is skipped.
 * @throws ArchiveRejected for an entry that does not belong in this kind
 */
export type TakeEntry = (entry: FileEntry, content: AsyncIterable<Uint8Array>, head: ArchiveHead) => Promise<void>;

/**
 * @param kind null accepts both
 * @throws ArchiveRejected; Error (one sentence) when the file cannot be read; errors of `take`
 */
export async function readArchive(path: string, kind: ArchiveKind | null, take: TakeEntry): Promise<ReadArchive> {
  let head: ArchiveHead | null = null;
  let hashes: string | null = null;
  const onFile = async (entry: FileEntry, content: AsyncIterable<Uint8Array>): Promise<void> => {
    if (hashes !== null) throw new ArchiveRejected(`has ${entry.path} after ${HASHES_ENTRY}`);
    if (head === null) {
      if (entry.path !== HEAD_ENTRY) throw new ArchiveRejected('is no archive of AOS');
      head = headOf(await entryText(entry, content, MAX_HEAD_BYTES));
      if (kind !== null && head.kind !== kind) throw new ArchiveRejected(KINDS[head.kind]);
    } else if (entry.path === HASHES_ENTRY) hashes = await entryText(entry, content, MAX_HASHES_BYTES);
    else await take(entry, content, head);
  };
  const limits = { entries: MOST_ENTRIES, unpackedBytes: Number.MAX_SAFE_INTEGER, ratio: RATIO };
  try {
    const source = createReadStream(path, { highWaterMark: 1024 * 1024 });
    const { files } = await readPackage(source, { platform: 'linux-x64', onFile, limits });
    if (head === null || hashes === null) throw new ArchiveRejected(`ends without ${HASHES_ENTRY}`);
    const entries = files.map(({ path: name, size, sha256 }) => ({ path: name, size, sha256 }));
    compare(entries, parsed(hashes));
    return { head, entries };
  } catch (error) {
    throw told(error, path);
  }
}

const KINDS: Readonly<Record<ArchiveKind, string>> = {
  backup: 'is a backup: `aos restore` takes it',
  export: 'is an export: `aos import` takes it',
};

/** @throws ArchiveRejected when it is larger than `most` bytes */
export async function entryText(entry: FileEntry, content: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  if (entry.size > most) throw new ArchiveRejected(`has ${entry.path} with more than ${most} bytes`);
  const pieces: Uint8Array[] = [];
  // The reader reuses its buffer.
  for await (const piece of content) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
}

function compare(found: readonly EntryHash[], told: unknown): void {
  const listed = (told as { entries?: unknown } | null)?.entries;
  if (!Array.isArray(listed) || listed.some((entry) => typeof entry !== 'object' || entry === null))
    throw new ArchiveRejected(`has a ${HASHES_ENTRY} without entries`);
  const hashes = new Map((listed as EntryHash[]).map((entry) => [entry.path, entry]));
  for (const { path, size, sha256 } of found) {
    if (path === HASHES_ENTRY) continue;
    const entry = hashes.get(path);
    if (entry === undefined) throw new ArchiveRejected(`holds ${path}, which its ${HASHES_ENTRY} does not name`);
    if (entry.size !== size || entry.sha256 !== sha256) throw new ArchiveRejected(`holds ${path} with another content`);
    hashes.delete(path);
  }
  const [missing] = hashes.keys();
  if (missing !== undefined) throw new ArchiveRejected(`lacks ${missing}`);
}

function told(error: unknown, path: string): unknown {
  if (error instanceof ArchiveRejected)
    return Object.assign(new ArchiveRejected(error.why), { message: `${path} ${error.why}.` });
  if (error instanceof UnsafePackage) {
    const why =
      error.entry === '' ? error.why.replace(/^The package /, '') : `holds an entry that is refused: ${error.message}`;
    return Object.assign(new ArchiveRejected(why), { message: `${path} ${why}.` });
  }
  if (codeOf(error) === 'ENOENT') return new Error(`${path} is not there.`, { cause: error });
  return error;
}
