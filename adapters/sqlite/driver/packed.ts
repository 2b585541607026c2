/**
 * Texts must arrive as bytes to be checked, and one blob per text is expensive. Stored JSON never
 * contains a line break (decision 042).
 */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import type { SqlValue } from './driver.js';

export function buildPackedSql(sql: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  const packed = names.map(
    (name) => `CAST(group_concat(${name}, char(10)) AS BLOB), min(typeof(${name})), max(typeof(${name}))`,
  );
  return `WITH "~packed"(${names.join()}) AS (${sql}) SELECT count(*), ${packed.join()} FROM "~packed"`;
}

/** Null when they must be read one by one. */
export function unpackRows([count, ...packed]: readonly SqlValue[]): SqlValue[][] | null {
  if (count === 0) return [];
  const columns: SqlValue[][] = [];
  for (let i = 0; i < packed.length; i += 3) {
    const column = unpackColumn(packed[i] as Uint8Array, packed[i + 1], packed[i + 2]);
    if (column === null || column.length !== count) return null;
    columns.push(column);
  }
  const rows: SqlValue[][] = Array.from({ length: count as number }, () => []);
  for (const column of columns) for (const [row, value] of column.entries()) rows[row]?.push(value);
  return rows;
}

/** Null for several types, blobs, and invalid UTF-8. */
function unpackColumn(given: Uint8Array, least: SqlValue | undefined, most: SqlValue | undefined): SqlValue[] | null {
  if (least !== most || (least !== 'text' && least !== 'integer')) return null;
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (!isUtf8(bytes)) return null;
  const lines = isAscii(bytes) ? bytes.toString('latin1').split('\n') : splitLines(bytes);
  return least === 'integer' ? lines.map(Number) : lines;
}

/** One non-ASCII character would double the size of the whole string. */
function splitLines(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let from = 0; from <= bytes.length;) {
    const found = bytes.indexOf(10, from);
    const to = found < 0 ? bytes.length : found;
    lines.push(bytes.toString(isAscii(bytes.subarray(from, to)) ? 'latin1' : 'utf8', from, to));
    from = to + 1;
  }
  return lines;
}
