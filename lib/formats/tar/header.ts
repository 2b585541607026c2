/**
 * Strict tar headers (POSIX.1-1988 ustar, POSIX.1-2001 pax, GNU long names); anything ambiguous is
 * rejected.
 */
import { isUtf8 } from 'node:buffer';
import { Header } from 'tar/header';
import { UnsafePackage } from '../unsafe-package.js';

export const BLOCK_BYTES = 512;

export type TarKind = 'file' | 'directory' | 'pax' | 'global pax' | 'long name';

export interface TarHeader {
  kind: TarKind;
  /** Null when not UTF-8; then an earlier header must name the entry. */
  path: string | null;
  /** Bytes after the header. */
  size: number;
  executable: boolean;
}

const ENTRY_KINDS: Readonly<Record<string, TarKind>> = {
  '0': 'file',
  '\0': 'file',
  '5': 'directory',
  x: 'pax',
  g: 'global pax',
  L: 'long name',
};
const REJECTED_KINDS: Readonly<Record<string, string>> = {
  '1': 'is a hard link',
  '2': 'is a symbolic link',
  '3': 'is a character device',
  '4': 'is a block device',
  '6': 'is a named pipe',
  K: 'is a link',
  S: 'is a sparse file',
};
/** Magic of ustar and GNU tar; seventh edition archives have none. */
const MAGIC_VALUES = new Set(['ustar\x0000', 'ustar  \0', '\0\0\0\0\0\0\0\0']);
const OCTAL_PATTERN = /^ *[0-7]*[ \0]*$/;
/** Marks a base 256 number; 0xff starts a negative one. */
const BASE256_BIT = 0x80;

export function isZero(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}

/**
 * Parses a header.
 * @param longer entry name from an earlier header
 * @throws UnsafePackage naming the entry, if readable
 */
export function parseTarHeader(block: Buffer, longer: string | null): TarHeader {
  const header = decodeHeader(block);
  const path = header.path ?? '';
  const name = longer ?? path;
  const fail = (why: string): UnsafePackage => new UnsafePackage(name, why);
  if (!header.cksumValid) throw fail('has a header with a wrong checksum');
  if (!MAGIC_VALUES.has(block.toString('latin1', 257, 265))) throw fail('has a header in an unknown tar format');
  const flag = String.fromCharCode(block[156] ?? 0);
  const rejection = REJECTED_KINDS[flag];
  if (rejection !== undefined) throw fail(rejection);
  const kind = ENTRY_KINDS[flag];
  if (kind === undefined) throw fail('has an unknown kind');
  for (const [start, end] of [
    [100, 108],
    [124, 136],
  ] as const)
    // prettier-ignore
    if (!isNumber(block.subarray(start, end))) throw fail('has a header with a broken number');

  const ustar = block[263] === 0x30;
  const prefix = ustar ? block.subarray(345, 500) : Buffer.alloc(0);
  const texts = [block.subarray(0, 100), prefix];
  if (texts.some(hasMoreAfterNul)) throw fail('has a NUL in its name');
  if (kind === 'file' && path.endsWith('/') && texts.every(isUtf8)) return parseOldDirectory(block, path);
  if (kind === 'directory' && !isEmpty(block)) throw fail('is a directory with content');
  const { size = 0, mode = 0 } = header;
  return { kind, path: texts.every(isUtf8) ? path : null, size, executable: (mode & 0o111) !== 0 };
}

function decodeHeader(block: Buffer): Header {
  try {
    return new Header(block);
  } catch {
    // Beyond 2^53.
    throw new UnsafePackage(block.toString('utf8', 0, 100), 'has a header with a broken number');
  }
}

/** Seventh edition archives mark directories by a trailing slash. */
function parseOldDirectory(block: Buffer, path: string): TarHeader {
  if (block[156] !== 0 || !isEmpty(block)) throw new UnsafePackage(path, 'is a file whose name ends with a slash');
  return { kind: 'directory', path, size: 0, executable: false };
}

const isEmpty = (block: Buffer): boolean => /^[ 0\0]*$/.test(block.toString('latin1', 124, 136));

const isNumber = (field: Buffer): boolean => field[0] === BASE256_BIT || OCTAL_PATTERN.test(field.toString('latin1'));

function hasMoreAfterNul(field: Buffer): boolean {
  const end = field.indexOf(0);
  return end >= 0 && !isZero(field.subarray(end));
}
