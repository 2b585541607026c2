/**
 * Extended headers before an entry: pax records and GNU long names. Records that change other
 * fields are rejected.
 */
import { isUtf8 } from 'node:buffer';
import { UnsafePackage } from '../unsafe-package.js';
import { isZero } from './header.js';

export const MAX_EXTENSION_BYTES = 64 * 1024;

/** Pax records for the next entry. */
export interface PaxRecords {
  path: string | null;
  /** Size that the header cannot hold; otherwise both must agree. */
  size: number | null;
  /** Reason to reject the entry, or null. */
  refused: string | null;
}

const SPARSE_KEY_PATTERN = /^(GNU\.sparse\.|SCHILY\.realsize$|SUN\.holesdata$)/;

/** @param name of the header with the records, for the message */
export function parsePaxRecords(bytes: Buffer, name: string): PaxRecords {
  const found = new Map<string, string>();
  let rejection: string | null = null;
  for (let at = 0; at < bytes.length;) {
    const { key, value, next } = parseRecord(bytes, at, name);
    if (SPARSE_KEY_PATTERN.test(key)) rejection = 'is a sparse file';
    if (key === 'linkpath') rejection = 'is a link';
    if ((key === 'path' || key === 'size') && found.has(key))
      throw new UnsafePackage(name, `has two pax records for its ${key}`);
    found.set(key, value);
    at = next;
  }
  const size = found.get('size') ?? null;
  if (size !== null && !/^\d{1,15}$/.test(size)) throw new UnsafePackage(name, 'has an invalid size');
  return { path: found.get('path') ?? null, size: size === null ? null : Number(size), refused: rejection };
}

/** Checks archive-wide records: only a comment, as git writes it, is allowed. */
export function checkGlobalPax(bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) {
    const { key, next } = parseRecord(bytes, at, '');
    if (key !== 'comment') throw new UnsafePackage('', `The package has a global pax record ${key}`);
    at = next;
  }
}

export function parseLongName(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  const name = end < 0 ? bytes : bytes.subarray(0, end);
  if (!isZero(bytes.subarray(name.length))) throw new UnsafePackage(name.toString(), 'has a NUL in its name');
  if (!isUtf8(name)) throw new UnsafePackage(name.toString(), 'has a name that is not UTF-8');
  return name.toString();
}

/** `<length> <key>=<value>\n`; the length includes itself. */
function parseRecord(bytes: Buffer, at: number, name: string): { key: string; value: string; next: number } {
  const broken = (): UnsafePackage => new UnsafePackage(name, 'has a broken pax record');
  const space = bytes.indexOf(0x20, at);
  const digits = bytes.toString('latin1', at, Math.min(space, at + 8));
  const next = at + Number(digits);
  if (space < 0 || !/^[1-9]\d{0,6}$/.test(digits) || next > bytes.length || bytes[next - 1] !== 0x0a) throw broken();
  const equals = bytes.indexOf(0x3d, space);
  if (equals <= space + 1 || equals >= next) throw broken();
  const value = bytes.subarray(equals + 1, next - 1);
  const key = bytes.toString('utf8', space + 1, equals);
  if (key === 'path' && !isUtf8(value)) throw new UnsafePackage(value.toString(), 'has a name that is not UTF-8');
  return { key, value: value.toString(), next };
}
