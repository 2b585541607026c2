/**
 * Text as it is on the disk, checked before it becomes a string. A damaged row may hold bytes that are no UTF-8:
 * libsql ends the process when it meets them, and node:sqlite puts U+FFFD in their place and says nothing. So a
 * SELECT is prepared with its texts as bytes, and its few real blobs as hexadecimal text, which tells the two apart.
 */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { DamagedText, idIn } from './damage.js';
import type { Value } from './driver.js';

/** Only these return what is stored; a PRAGMA and an EXPLAIN return what SQLite says itself. */
export const returnsStored = (sql: string): boolean => /^\s*SELECT\b/i.test(sql);

/** @param columns how many the statement has */
export function strictSql(sql: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  const exact = names.map(
    (name) =>
      `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) WHEN 'blob' THEN hex(${name}) ELSE ${name} END`,
  );
  return `WITH "~exact"(${names.join()}) AS (${sql}) SELECT ${exact.join()} FROM "~exact"`;
}

/** A row of such a statement as the plain one would give it. @throws DamagedText */
export function exactRow(row: Value[]): Value[] {
  for (let i = 0; i < row.length; i++) {
    const value = row[i];
    if (value instanceof Uint8Array) row[i] = textOf(value);
    else if (typeof value === 'string') row[i] = Buffer.from(value, 'hex');
  }
  return row;
}

function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isAscii(buffer)) return buffer.toString('latin1');
  if (!isUtf8(buffer)) throw new DamagedText('it is not UTF-8', idIn(buffer.toString()));
  return buffer.toString();
}
