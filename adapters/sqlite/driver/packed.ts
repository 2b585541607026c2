/**
 * The rows of a page as one row, for libsql: the texts of each column in one blob, with their lengths beside. Texts
 * have to come as bytes to be checked (strict.ts), and a blob for each text costs more than the text itself: an
 * allocation outside of the heap, and a finalizer. Rejected: to let SQLite look for bytes that are no UTF-8. `GLOB`
 * alone tells them, at a hundred times the cost.
 */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import type { Value } from './driver.js';

/** What stands for a number that JSON might not carry exactly. */
const INEXACT = 'real';

/** Beside the texts of a column its values: a text's length in bytes, a blob as `x…`, an integer as text, or null. */
export function packedSql(sql: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  const packed = names.map(
    (name) => `CAST(group_concat(CASE typeof(${name}) WHEN 'text' THEN ${name} END, '') AS BLOB),
      json_group_array(CASE typeof(${name}) WHEN 'text' THEN octet_length(${name}) WHEN 'blob' THEN 'x' || hex(${name})
        WHEN 'integer' THEN CAST(${name} AS TEXT) WHEN 'real' THEN '${INEXACT}' END)`,
  );
  return `WITH "~packed"(${names.join()}) AS (${sql}) SELECT ${packed.join()} FROM "~packed"`;
}

/** The rows, as the plain statement would give them; null where they have to be read one by one. */
export function unpackedRows(packed: readonly Value[]): Value[][] | null {
  const rows: Value[][] = [];
  for (let i = 0; i < packed.length; i += 2) {
    const values = JSON.parse(packed[i + 1] as string) as (number | string | null)[];
    const texts = textsOf(packed[i] as Uint8Array | null, values);
    if (texts === null || values.includes(INEXACT)) return null;
    let text = 0;
    for (const [row, value] of values.entries()) {
      const one = typeof value === 'number' ? (texts[text++] as string) : valueOf(value);
      if (i === 0) rows.push([one]);
      else (rows[row] as Value[]).push(one);
    }
  }
  return rows;
}

const valueOf = (value: string | null): Value =>
  value === null ? null : value.startsWith('x') ? Buffer.from(value.slice(1), 'hex') : Number(value);

/** Null: not all of them are UTF-8. */
function textsOf(given: Uint8Array | null, values: readonly unknown[]): string[] | null {
  const lengths = values.filter((value) => typeof value === 'number');
  const bytes = given === null ? Buffer.alloc(0) : Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const encoding = isAscii(bytes) ? 'latin1' : 'utf8';
  if (encoding === 'utf8' && !isUtf8(bytes)) return null;
  let at = 0;
  const texts = lengths.map((length) => bytes.toString(encoding, at, (at += length)));
  return at === bytes.length ? texts : null;
}
