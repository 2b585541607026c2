/**
 * Reads the directory of a zip archive and single files. The archive is stored in pieces, which
 * libraries do not support, and only the output of Sentry's tools is needed: one volume, stored or
 * deflated files, sizes below 4 GiB. Every number in the archive is validated before use, and
 * inflating is limited.
 */
import { inflateRawSync } from 'node:zlib';
import { MapRefused, type PackedBytes, type PackedFile } from '../../ports/source-maps/reader.js';
import { LIMITS } from './limits.js';

const END = 0x06054b50;
const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const ENCRYPTED = 1;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
/** Maximum extra fields of a local header beyond those of the directory. */
const LOCAL_EXTRA = 1_024;

export const TAIL = END_BYTES + LONGEST_COMMENT;

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
export function directoryOf(tail: Buffer, size: number): ZipDirectory {
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END || at + END_BYTES + tail.readUInt16LE(at + 20) !== tail.length) continue;
    const count = tail.readUInt16LE(at + 10);
    const bytes = tail.readUInt32LE(at + 12);
    const start = size - tail.length + at - bytes;
    const shift = start - tail.readUInt32LE(at + 16);
    if (start < 0 || shift < 0) throw new MapRefused('has a directory outside of its bounds');
    if (count > LIMITS.files) throw new MapRefused(`has more than ${LIMITS.files} files`);
    if (bytes > LIMITS.directory) throw new MapRefused(`has a directory of more than ${LIMITS.directory} bytes`);
    return { start, bytes, count, shift };
  }
  throw new MapRefused('is no zip archive');
}

/**
 * Returns the files of a directory by name.
 * @throws MapRefused
 */
export function entriesOf(directory: Buffer, { start, count, shift }: ZipDirectory): Map<string, PackedFile> {
  const entries = new Map<string, PackedFile>();
  const extents: { from: number; to: number }[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY) {
      throw new MapRefused('has a damaged directory');
    }
    if ((directory.readUInt16LE(at + 8) & ENCRYPTED) !== 0) throw new MapRefused('has an encrypted file');
    const method = directory.readUInt16LE(at + 10);
    const packed = directory.readUInt32LE(at + 20);
    const size = directory.readUInt32LE(at + 24);
    const nameBytes = directory.readUInt16LE(at + 28);
    const offset = directory.readUInt32LE(at + 42) + shift;
    const name = directory.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    if (offset + LOCAL_BYTES + packed > start) throw new MapRefused('has a file outside of its bounds');
    if (method !== 0 && method !== 8) throw new MapRefused('has a file that is neither stored nor deflated');
    const length = Math.min(start - offset, LOCAL_BYTES + nameBytes + LOCAL_EXTRA + packed);
    entries.set(name, { offset, length, packed, size, form: method === 0 ? 'stored' : 'deflated' });
    extents.push({ from: offset, to: offset + LOCAL_BYTES + nameBytes + packed });
    at += ENTRY_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  extents.sort((a, b) => a.from - b.from);
  if (extents.some(({ to }, i) => to > (extents[i + 1]?.from ?? start))) throw new MapRefused('has files that overlap');
  return entries;
}

/**
 * Returns the header size of the file whose entry `given` starts with, or null when it is damaged.
 */
export function headerBytes(given: Buffer): number | null {
  if (given.length < LOCAL_BYTES || given.readUInt32LE(0) !== LOCAL) return null;
  return LOCAL_BYTES + given.readUInt16LE(26) + given.readUInt16LE(28);
}

/**
 * @param most unpacked bytes
 * @throws MapRefused
 */
export function unpacked({ file, bytes }: PackedBytes, most: number): Buffer {
  const { packed, size, form } = file;
  if (size > most) throw new MapRefused(`is larger than ${most} bytes`);
  const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (form === 'plain') return given;
  const begin = headerBytes(given);
  if (begin === null) throw new MapRefused('is damaged');
  const body = given.subarray(begin, begin + packed);
  if (body.length !== packed) throw new MapRefused('is damaged');
  return form === 'stored' ? body : inflated(body, most);
}

/** The declared size is not trusted. */
function inflated(body: Buffer, most: number): Buffer {
  try {
    return inflateRawSync(body, { maxOutputLength: most });
  } catch (error) {
    const tooLarge = error instanceof RangeError;
    throw new MapRefused(tooLarge ? `is larger than ${most} bytes` : 'is damaged', true);
  }
}
