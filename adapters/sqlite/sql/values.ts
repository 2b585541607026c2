/**
 * How a JSON value is stored in an index column, so that SQLite's own order and equality are those of
 * ports/document.ts: null < numbers < text < blobs, and `true` (a blob) is not 1. Rejected: indexes on
 * `json_extract(body, …)`, where true is 1, an array is text, and every write of a document rewrites all its indexes
 * (2.6 times the cost of a small change).
 */
import type { Json } from '../../../ports/store.js';
import type { Value } from '../driver/driver.js';

const COMPOUND = Buffer.from([0]);
const FALSE = Buffer.from([1]);
const TRUE = Buffer.from([2]);

/** The same as SQL literals. */
export const SQL_COMPOUND = `x'00'`;
export const SQL_FALSE = `x'01'`;
export const SQL_TRUE = `x'02'`;

export function columnValue(value: Json): Value {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? TRUE : FALSE;
  return COMPOUND;
}

/** Whether two values of one column are equal. A value that is neither text nor number is one of a few short blobs. */
export const isSame = (a: Value, b: Value): boolean =>
  a === b || (a instanceof Uint8Array && b instanceof Uint8Array && a[0] === b[0]);

/** What `columnValue` made of a scalar, or a blob literal of the above, as JSON again. */
export function scalarOf(value: Value): string | number | boolean | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return value[0] === 0 ? null : value[0] === 2;
}

const quoted = new Map<string, string>();

/**
 * SQL that gives the value at `path` of a body as `columnValue` gives it. `path` matches PATH, so needs no escaping.
 */
export function bodyExpression(path: string): string {
  let sql = quoted.get(path);
  if (sql === undefined) {
    const at = jsonPath(path);
    sql =
      `CASE json_type(body, ${at}) WHEN 'true' THEN ${SQL_TRUE} WHEN 'false' THEN ${SQL_FALSE}` +
      ` WHEN 'array' THEN ${SQL_COMPOUND} WHEN 'object' THEN ${SQL_COMPOUND} ELSE json_extract(body, ${at}) END`;
    quoted.set(path, sql);
  }
  return sql;
}

/** The path in SQLite's notation, as an SQL literal; quoted keys never address array elements. */
export function jsonPath(path: string): string {
  return `'$.${path
    .split('.')
    .map((key) => `"${key}"`)
    .join('.')}'`;
}
