/**
 * The archive is stored in pieces, which libraries do not support, and only the output of Sentry's
 * tools is needed: one volume, stored or deflated files, sizes below 4 GiB. Every number in the
 * archive is validated before use, and inflating is limited.
 */
import { inflateRawSync } from 'node:zlib';
import { SourceMapRejected, type PackedBytes, type PackedFile } from '../../ports/source-map-reader.js';
import { UPLOAD_LIMITS } from './limits.js';

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const ENCRYPTED_FLAG = 1;
const LOCAL_HEADER_SIGNATURE = 0x04034b50;
const LOCAL_HEADER_BYTES = 30;
/** Maximum extra fields of a local header beyond those of the directory. */
const MAX_LOCAL_EXTRA_BYTES = 1_024;

export const ZIP_TAIL_BYTES = END_BYTES + MAX_COMMENT_BYTES;

export interface ZipDirectory {
  start: number;
  bytes: number;
  count: number;
  /** Bytes before the archive itself, such as a signature of the tool. */
  shift: number;
}

/**
 * @param tail the last bytes of an upload of `size` bytes
 * @throws MapRefused
 */
export function parseZipDirectory(tail: Buffer, size: number): ZipDirectory {
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END_SIGNATURE || at + END_BYTES + tail.readUInt16LE(at + 20) !== tail.length)
      continue;
    const count = tail.readUInt16LE(at + 10);
    const bytes = tail.readUInt32LE(at + 12);
    const start = size - tail.length + at - bytes;
    const shift = start - tail.readUInt32LE(at + 16);
    if (start < 0 || shift < 0) throw new SourceMapRejected('has a directory outside its bounds');
    if (count > UPLOAD_LIMITS.files) throw new SourceMapRejected(`has more than ${UPLOAD_LIMITS.files} files`);
    if (bytes > UPLOAD_LIMITS.directory)
      throw new SourceMapRejected(`has a directory of more than ${UPLOAD_LIMITS.directory} bytes`);
    return { start, bytes, count, shift };
  }
  throw new SourceMapRejected('is not a zip archive');
}

/**
 * Returns the files of a directory by name.
 * @throws MapRefused
 */
export function parseZipEntries(directory: Buffer, { start, count, shift }: ZipDirectory): Map<string, PackedFile> {
  const entries = new Map<string, PackedFile>();
  const extents: { from: number; to: number }[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE) {
      throw new SourceMapRejected('has a damaged directory');
    }
    if ((directory.readUInt16LE(at + 8) & ENCRYPTED_FLAG) !== 0) throw new SourceMapRejected('has an encrypted file');
    const method = directory.readUInt16LE(at + 10);
    const packed = directory.readUInt32LE(at + 20);
    const size = directory.readUInt32LE(at + 24);
    const nameBytes = directory.readUInt16LE(at + 28);
    const offset = directory.readUInt32LE(at + 42) + shift;
    const name = directory.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    if (offset + LOCAL_HEADER_BYTES + packed > start) throw new SourceMapRejected('has a file outside its bounds');
    if (method !== 0 && method !== 8) throw new SourceMapRejected('has a file that is neither stored nor deflated');
    const length = Math.min(start - offset, LOCAL_HEADER_BYTES + nameBytes + MAX_LOCAL_EXTRA_BYTES + packed);
    entries.set(name, { offset, length, packed, size, form: method === 0 ? 'stored' : 'deflated' });
    extents.push({ from: offset, to: offset + LOCAL_HEADER_BYTES + nameBytes + packed });
    at += ENTRY_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  extents.sort((a, b) => a.from - b.from);
  if (extents.some(({ to }, i) => to > (extents[i + 1]?.from ?? start)))
    throw new SourceMapRejected('has files that overlap');
  return entries;
}

/** Null when the header is damaged. */
export function getHeaderBytes(given: Buffer): number | null {
  if (given.length < LOCAL_HEADER_BYTES || given.readUInt32LE(0) !== LOCAL_HEADER_SIGNATURE) return null;
  return LOCAL_HEADER_BYTES + given.readUInt16LE(26) + given.readUInt16LE(28);
}

/**
 * @param most unpacked bytes
 * @throws MapRefused
 */
export function unpackFile({ file, bytes }: PackedBytes, most: number): Buffer {
  const { packed, size, form } = file;
  if (size > most) throw new SourceMapRejected(`is larger than ${most} bytes`);
  const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (form === 'plain') return given;
  const begin = getHeaderBytes(given);
  if (begin === null) throw new SourceMapRejected('is damaged');
  const body = given.subarray(begin, begin + packed);
  if (body.length !== packed) throw new SourceMapRejected('is damaged');
  return form === 'stored' ? body : inflateLimited(body, most);
}

/** The declared size is not trusted. */
function inflateLimited(body: Buffer, most: number): Buffer {
  try {
    return inflateRawSync(body, { maxOutputLength: most });
  } catch (error) {
    const tooLarge = error instanceof RangeError;
    throw new SourceMapRejected(tooLarge ? `is larger than ${most} bytes` : 'is damaged', true);
  }
}
