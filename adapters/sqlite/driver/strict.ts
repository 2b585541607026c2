/** On invalid UTF-8 libsql ends the process, and node:sqlite silently inserts U+FFFD. */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { DamagedTextError, extractId } from './damage.js';
import type { SqlValue } from './driver.js';

export const isSelect = (sql: string): boolean => /^\s*SELECT\b/i.test(sql);

export function buildStrictSql(sql: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  const exact = names.map(
    (name) =>
      `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) WHEN 'blob' THEN hex(${name}) ELSE ${name} END`,
  );
  return `WITH "~exact"(${names.join()}) AS (${sql}) SELECT ${exact.join()} FROM "~exact"`;
}

/** @throws DamagedText */
export function restoreRow(row: SqlValue[]): SqlValue[] {
  for (let i = 0; i < row.length; i++) {
    const value = row[i];
    if (value instanceof Uint8Array) row[i] = decodeText(value);
    else if (typeof value === 'string') row[i] = Buffer.from(value, 'hex');
  }
  return row;
}

function decodeText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isAscii(buffer)) return buffer.toString('latin1');
  if (!isUtf8(buffer)) throw new DamagedTextError('it is not UTF-8', extractId(buffer.toString()));
  return buffer.toString();
}
