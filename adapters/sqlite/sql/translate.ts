/**
 * Translates filters and sorts to SQL. Operands are always bound parameters; only validated paths
 * become statement text. Every condition is exact, and conditions on index columns can be index
 * ranges.
 */
import { getOrFilters, checkPath, toTotalSort } from '../../../ports/document.js';
import type { Condition, Filter, Scalar, Sort } from '../../../ports/store/index.js';
import type { SqlValue } from '../driver/driver.js';
import { buildBodyExpression, toJsonPath, SQL_FALSE, SQL_TRUE } from './values.js';

type Operators = Exclude<Condition, Scalar>;

export type ColumnMap = ReadonlyMap<string, string>;

export interface SqlFragment {
  text: string;
  values: SqlValue[];
}

/** Not a plain 0, for which SQLite reports "no query solution" when a statement names its index. */
const NEVER_SQL = '+0';
/** Longer lists are bound as one JSON parameter. */
const MAX_LIST_PARAMETERS = 64;

export function getColumnName(path: string): string {
  return `"$.${path}"`;
}

export function toSqlExpression(path: string, columns: ColumnMap): string {
  return columns.get(checkPath(path)) ?? buildBodyExpression(path);
}

export function buildWhereSql(filters: readonly Filter[], columns: ColumnMap): SqlFragment {
  const values: SqlValue[] = [];
  const terms = filters.flatMap((filter) => buildFilterTerms(filter, columns, values));
  return { text: terms.length === 0 ? '1' : terms.join(' AND '), values };
}

export function buildOrderSql(sort: Sort | undefined, columns: ColumnMap): string {
  return toTotalSort(sort)
    .map(([path, order]) => `${toSqlExpression(path, columns)} ${order === 'asc' ? 'ASC' : 'DESC'}`)
    .join(', ');
}

function buildFilterTerms(filter: Filter, columns: ColumnMap, values: SqlValue[]): string[] {
  const terms: string[] = [];
  for (const path in filter) {
    const condition = filter[path];
    if (condition === undefined) continue;
    if (path === 'or') {
      const any = getOrFilters(condition).map((f) => buildFilterTerms(f, columns, values).join(' AND ') || '1');
      terms.push(any.length === 0 ? NEVER_SQL : `(${any.map((one) => `(${one})`).join(' OR ')})`);
      continue;
    }
    terms.push(...buildConditionTerms(path, condition as Condition, values, columns));
  }
  return terms;
}

function buildConditionTerms(path: string, condition: Condition, values: SqlValue[], columns: ColumnMap): string[] {
  const at = toSqlExpression(path, columns);
  if (condition === null || typeof condition !== 'object') return [buildEqualTerm(at, condition, values)];
  const terms: string[] = [];
  const c: Operators = condition;
  if (c.in !== undefined) terms.push(buildInTerm(at, c.in, values));
  if (c.ne !== undefined)
    terms.push(c.ne === null ? buildPresentTerm(at) : `(${buildEqualTerm(at, c.ne, values)}) IS NOT TRUE`);
  if (c.gt !== undefined) terms.push(buildAboveTerm(at, '>', c.gt, values));
  if (c.gte !== undefined) terms.push(buildAboveTerm(at, '>=', c.gte, values));
  if (c.lt !== undefined) terms.push(buildBelowTerm(at, '<', c.lt, values));
  if (c.lte !== undefined) terms.push(buildBelowTerm(at, '<=', c.lte, values));
  if (c.exists !== undefined) terms.push(c.exists ? buildPresentTerm(at) : `${at} IS NULL`);
  if (c.prefix !== undefined) terms.push(buildPrefixTerm(at, c.prefix, values));
  if (c.contains !== undefined) {
    const parts = [c.contains].flat();
    values.push(...parts);
    // Each access to a long document is expensive.
    const [isText, text] = columns.has(path)
      ? [`typeof(${at}) = 'text'`, at]
      : [`json_type(body, ${toJsonPath(path)}) = 'text'`, `json_extract(body, ${toJsonPath(path)})`];
    terms.push(`(${[isText, ...parts.map(() => `instr(${text}, ?) > 0`)].join(' AND ')})`);
  }
  if (c.has !== undefined) terms.push(buildHasTerm(path, [c.has], values));
  if (c.has_any !== undefined) terms.push(buildHasTerm(path, c.has_any, values));
  return terms;
}

function buildEqualTerm(at: string, operand: Scalar, values: SqlValue[]): string {
  if (operand === null) return `${at} IS NULL`;
  if (typeof operand === 'boolean') return `${at} = ${operand ? SQL_TRUE : SQL_FALSE}`;
  values.push(operand);
  return `${at} = ?`;
}

/** An index seek that skips the nulls. */
function buildPresentTerm(at: string): string {
  return `${at} >= -9e999`;
}

function buildInTerm(path: string, operands: readonly Scalar[], values: SqlValue[]): string {
  const terms = [];
  const singles = [true, false, null].filter((v) => operands.includes(v));
  const plain = operands.filter((v): v is string | number => typeof v === 'string' || typeof v === 'number');
  // A unary plus stops SQLite from using one index lookup per term and sorting the results.
  const at = singles.length + Math.min(1, plain.length) > 1 ? `+${path}` : path;
  if (plain.length > MAX_LIST_PARAMETERS) {
    values.push(JSON.stringify(plain));
    terms.push(`${at} IN (SELECT value FROM json_each(?))`);
  } else if (plain.length > 0) {
    const list = padToPowerOfTwo(plain);
    values.push(...list);
    terms.push(`${at} IN (${list.map(() => '?').join()})`);
  }
  for (const v of singles) terms.push(buildEqualTerm(at, v, values));
  if (terms.length === 0) return NEVER_SQL;
  return terms.length === 1 ? (terms[0] as string) : `(${terms.join(' OR ')})`;
}

/** Repeats the last value up to a power of two, to limit the number of distinct statements. */
function padToPowerOfTwo<V>(list: readonly V[]): V[] {
  const size = 2 ** Math.ceil(Math.log2(list.length));
  return Array.from({ length: size }, (_, i) => list[Math.min(i, list.length - 1)] as V);
}

/** Greater than the operand and below the next type: blobs follow text, text follows numbers. */
function buildAboveTerm(at: string, operator: string, operand: Scalar, values: SqlValue[]): string {
  if (typeof operand === 'boolean') return `${at} ${operator} ${operand ? SQL_TRUE : SQL_FALSE}`;
  values.push(operand);
  return `(${at} ${operator} ? AND ${at} < ${typeof operand === 'number' ? `''` : `x''`})`;
}

function buildBelowTerm(at: string, operator: string, operand: Scalar, values: SqlValue[]): string {
  if (typeof operand === 'boolean')
    return `(${at} ${operator} ${operand ? SQL_TRUE : SQL_FALSE} AND ${at} >= ${SQL_FALSE})`;
  values.push(operand);
  return `(${at} ${operator} ? AND ${at} >= ${typeof operand === 'number' ? '-9e999' : `''`})`;
}

function buildPrefixTerm(at: string, prefix: string, values: SqlValue[]): string {
  values.push(prefix);
  const end = getPrefixUpperBound(prefix);
  if (end === null) return `(${at} >= ? AND ${at} < x'')`;
  values.push(end);
  return `(${at} >= ? AND ${at} < ?)`;
}

/**
 * Returns the smallest text, by code point, above all texts with `prefix`; null when none exists.
 */
export function getPrefixUpperBound(prefix: string): string | null {
  const points = Array.from(prefix);
  while (points.length > 0) {
    const last = (points.pop() as string).codePointAt(0) as number;
    if (last === 0x10ffff) continue;
    // Skips the surrogates, which are not characters.
    return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
  return null;
}

function buildHasTerm(path: string, operands: readonly Scalar[], values: SqlValue[]): string {
  const at = toJsonPath(checkPath(path));
  const terms = operands.map((operand) => {
    if (operand === null) return `type = 'null'`;
    if (typeof operand === 'boolean') return `type = '${operand}'`;
    values.push(operand);
    return typeof operand === 'string'
      ? `(type = 'text' AND value = ?)`
      : `(type IN ('integer', 'real') AND value = ?)`;
  });
  if (terms.length === 0) return NEVER_SQL;
  // json_each would treat a scalar as an array, and an object as its members.
  const elements = `json_each(body, CASE json_type(body, ${at}) WHEN 'array' THEN ${at} ELSE '$."no such key"' END)`;
  return `EXISTS (SELECT 1 FROM ${elements} WHERE ${terms.join(' OR ')})`;
}
