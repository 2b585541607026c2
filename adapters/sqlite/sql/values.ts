/**
 * Encodes JSON values for index columns: null < numbers < text < blobs, and `true` (a blob) differs
 * from 1.
 */
import type { Json } from '../../../ports/store/index.js';
import type { SqlValue } from '../driver/driver.js';

const COMPOUND_VALUE = Buffer.from([0]);
const FALSE_VALUE = Buffer.from([1]);
const TRUE_VALUE = Buffer.from([2]);

export const SQL_COMPOUND = `x'00'`;
export const SQL_FALSE = `x'01'`;
export const SQL_TRUE = `x'02'`;

export function encodeColumnValue(value: Json): SqlValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? TRUE_VALUE : FALSE_VALUE;
  return COMPOUND_VALUE;
}

/** Returns whether two column values are equal. */
export const isSameValue = (a: SqlValue, b: SqlValue): boolean =>
  a === b || (a instanceof Uint8Array && b instanceof Uint8Array && a[0] === b[0]);

export function decodeColumnValue(value: SqlValue): string | number | boolean | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return value[0] === 0 ? null : value[0] === 2;
}

const quotedPaths = new Map<string, string>();

/** `path` is validated. */
export function buildBodyExpression(path: string): string {
  let sql = quotedPaths.get(path);
  if (sql === undefined) {
    const at = toJsonPath(path);
    sql =
      `CASE json_type(body, ${at}) WHEN 'true' THEN ${SQL_TRUE} WHEN 'false' THEN ${SQL_FALSE}` +
      ` WHEN 'array' THEN ${SQL_COMPOUND} WHEN 'object' THEN ${SQL_COMPOUND} ELSE json_extract(body, ${at}) END`;
    quotedPaths.set(path, sql);
  }
  return sql;
}

/** Quoted keys never address array elements. */
export function toJsonPath(path: string): string {
  return `'$.${path
    .split('.')
    .map((key) => `"${key}"`)
    .join('.')}'`;
}
