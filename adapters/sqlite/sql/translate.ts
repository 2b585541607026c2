/**
 * Translates filters and sorts to SQL. Operands are always bound parameters; only validated paths
 * become statement text. Every condition is exact, and conditions on index columns can be index
 * ranges.
 */
import { listOrFilters, checkPath, toTotalSort } from '../../../ports/document.js';
import type { Condition, Filter, Scalar, Sort } from '../../../ports/store.js';
import type { Value } from '../driver/driver.js';
import { bodyExpression, jsonPath, SQL_FALSE, SQL_TRUE } from './values.js';

type Operators = Exclude<Condition, Scalar>;

export type Columns = ReadonlyMap<string, string>;

export interface Sql {
  text: string;
  values: Value[];
}

/** Not a plain 0, for which SQLite reports "no query solution" when a statement names its index. */
const NEVER = '+0';
/** Longer lists are bound as one JSON parameter. */
const MAX_LIST = 64;

export function columnName(path: string): string {
  return `"$.${path}"`;
}

export function expression(path: string, columns: Columns): string {
  return columns.get(checkPath(path)) ?? bodyExpression(path);
}

export function whereSql(filters: readonly Filter[], columns: Columns): Sql {
  const values: Value[] = [];
  const terms = filters.flatMap((filter) => filterTerms(filter, columns, values));
  return { text: terms.length === 0 ? '1' : terms.join(' AND '), values };
}

export function orderSql(sort: Sort | undefined, columns: Columns): string {
  return toTotalSort(sort)
    .map(([path, order]) => `${expression(path, columns)} ${order === 'asc' ? 'ASC' : 'DESC'}`)
    .join(', ');
}

function filterTerms(filter: Filter, columns: Columns, values: Value[]): string[] {
  const terms: string[] = [];
  for (const path in filter) {
    const condition = filter[path];
    if (condition === undefined) continue;
    if (path === 'or') {
      const any = listOrFilters(condition).map((f) => filterTerms(f, columns, values).join(' AND ') || '1');
      terms.push(any.length === 0 ? NEVER : `(${any.map((one) => `(${one})`).join(' OR ')})`);
      continue;
    }
    terms.push(...conditionTerms(path, condition as Condition, values, columns));
  }
  return terms;
}

function conditionTerms(path: string, condition: Condition, values: Value[], columns: Columns): string[] {
  const at = expression(path, columns);
  if (condition === null || typeof condition !== 'object') return [equal(at, condition, values)];
  const terms: string[] = [];
  const c: Operators = condition;
  if (c.in !== undefined) terms.push(oneOf(at, c.in, values));
  if (c.ne !== undefined) terms.push(c.ne === null ? present(at) : `(${equal(at, c.ne, values)}) IS NOT TRUE`);
  if (c.gt !== undefined) terms.push(above(at, '>', c.gt, values));
  if (c.gte !== undefined) terms.push(above(at, '>=', c.gte, values));
  if (c.lt !== undefined) terms.push(below(at, '<', c.lt, values));
  if (c.lte !== undefined) terms.push(below(at, '<=', c.lte, values));
  if (c.exists !== undefined) terms.push(c.exists ? present(at) : `${at} IS NULL`);
  if (c.prefix !== undefined) terms.push(startsWith(at, c.prefix, values));
  if (c.contains !== undefined) {
    const parts = [c.contains].flat();
    values.push(...parts);
    // Each access to a long document is expensive: one for the type, and one per part.
    const [isText, text] = columns.has(path)
      ? [`typeof(${at}) = 'text'`, at]
      : [`json_type(body, ${jsonPath(path)}) = 'text'`, `json_extract(body, ${jsonPath(path)})`];
    terms.push(`(${[isText, ...parts.map(() => `instr(${text}, ?) > 0`)].join(' AND ')})`);
  }
  if (c.has !== undefined) terms.push(hasOne(path, [c.has], values));
  if (c.has_any !== undefined) terms.push(hasOne(path, c.has_any, values));
  return terms;
}

function equal(at: string, operand: Scalar, values: Value[]): string {
  if (operand === null) return `${at} IS NULL`;
  if (typeof operand === 'boolean') return `${at} = ${operand ? SQL_TRUE : SQL_FALSE}`;
  values.push(operand);
  return `${at} = ?`;
}

/** `IS NOT NULL` as a range: an index seek that skips the nulls, which sort first. */
function present(at: string): string {
  return `${at} >= -9e999`;
}

function oneOf(path: string, operands: readonly Scalar[], values: Value[]): string {
  const terms = [];
  const singles = [true, false, null].filter((v) => operands.includes(v));
  const plain = operands.filter((v): v is string | number => typeof v === 'string' || typeof v === 'number');
  // With several terms, a unary plus stops SQLite from using one index lookup per term and sorting
  // the results.
  const at = singles.length + Math.min(1, plain.length) > 1 ? `+${path}` : path;
  if (plain.length > MAX_LIST) {
    values.push(JSON.stringify(plain));
    terms.push(`${at} IN (SELECT value FROM json_each(?))`);
  } else if (plain.length > 0) {
    const list = padded(plain);
    values.push(...list);
    terms.push(`${at} IN (${list.map(() => '?').join()})`);
  }
  for (const v of singles) terms.push(equal(at, v, values));
  if (terms.length === 0) return NEVER;
  return terms.length === 1 ? (terms[0] as string) : `(${terms.join(' OR ')})`;
}

/** Repeats the last value up to a power of two, to limit the number of distinct statements. */
function padded<V>(list: readonly V[]): V[] {
  const size = 2 ** Math.ceil(Math.log2(list.length));
  return Array.from({ length: size }, (_, i) => list[Math.min(i, list.length - 1)] as V);
}

/** Greater than the operand and below the next type: blobs follow text, text follows numbers. */
function above(at: string, operator: string, operand: Scalar, values: Value[]): string {
  if (typeof operand === 'boolean') return `${at} ${operator} ${operand ? SQL_TRUE : SQL_FALSE}`;
  values.push(operand);
  return `(${at} ${operator} ? AND ${at} < ${typeof operand === 'number' ? `''` : `x''`})`;
}

function below(at: string, operator: string, operand: Scalar, values: Value[]): string {
  if (typeof operand === 'boolean')
    return `(${at} ${operator} ${operand ? SQL_TRUE : SQL_FALSE} AND ${at} >= ${SQL_FALSE})`;
  values.push(operand);
  return `(${at} ${operator} ? AND ${at} >= ${typeof operand === 'number' ? '-9e999' : `''`})`;
}

function startsWith(at: string, prefix: string, values: Value[]): string {
  values.push(prefix);
  const end = afterPrefix(prefix);
  if (end === null) return `(${at} >= ? AND ${at} < x'')`;
  values.push(end);
  return `(${at} >= ? AND ${at} < ?)`;
}

/**
 * Returns the smallest text, by code point, above all texts with `prefix`; null when none exists.
 */
export function afterPrefix(prefix: string): string | null {
  const points = Array.from(prefix);
  while (points.length > 0) {
    const last = (points.pop() as string).codePointAt(0) as number;
    if (last === 0x10ffff) continue;
    // Skips the surrogates, which are not characters.
    return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
  return null;
}

function hasOne(path: string, operands: readonly Scalar[], values: Value[]): string {
  const at = jsonPath(checkPath(path));
  const terms = operands.map((operand) => {
    if (operand === null) return `type = 'null'`;
    if (typeof operand === 'boolean') return `type = '${operand}'`;
    values.push(operand);
    return typeof operand === 'string'
      ? `(type = 'text' AND value = ?)`
      : `(type IN ('integer', 'real') AND value = ?)`;
  });
  if (terms.length === 0) return NEVER;
  // json_each would treat a scalar as an array, and an object as its members.
  const elements = `json_each(body, CASE json_type(body, ${at}) WHEN 'array' THEN ${at} ELSE '$."no such key"' END)`;
  return `EXISTS (SELECT 1 FROM ${elements} WHERE ${terms.join(' OR ')})`;
}
