/**
 * SQLite has no value statistics: it would sort all matches or walk a whole index for two of them.
 * Few rows are read and sorted; with many, walking the index of the order soon fills a page.
 */
import { getOrFilters } from '../../../ports/document.js';
import type { Condition, Filter, Scalar, Sort } from '../../../ports/store/index.js';
import type { Connection } from '../connection/connection.js';
import type { Table, TableIndex } from '../connection/table.js';
import { buildMatch, getSearchTable, getValuesTable } from '../schema/side-tables.js';
import { buildWhereSql, type ColumnMap, type SqlFragment } from '../sql/translate.js';

/** A walk needs about page size × all ÷ matching steps, each as expensive as reading a row. */
const ROWS_PER_ROOT = 8;
const MIN_ROW_BOUND = 500;
const MAX_ROW_BOUND = 10_000;
const MAX_COUNTED_CONDITIONS = 4;

type IndexUse = 'one' | 'some' | 'range' | null;

function getIndexUse(condition: Filter[string]): IndexUse {
  if (condition === undefined || condition === null || Array.isArray(condition)) return null;
  if (typeof condition !== 'object') return 'one';
  const { in: list, has, has_any, ...c } = condition as Exclude<Condition, Scalar>;
  if (has !== undefined) return has === null ? null : 'some';
  const values = list ?? has_any;
  if (values !== undefined) return values.length > 0 && !values.includes(null) ? 'some' : null;
  return [c.gt, c.gte, c.lt, c.lte, c.prefix].some((bound) => bound !== undefined) ? 'range' : null;
}

const hasIdCondition = ({ id }: Filter): boolean => ['one', 'some'].includes(getIndexUse(id) ?? '');

export interface IndexWalk {
  from: string;
  columns: ColumnMap;
  fixed: readonly string[];
}

/** Otherwise SQLite chooses. */
export function chooseWalk(table: Table, filter: Filter, sort: Sort = []): IndexWalk {
  const { name, columns, indexes, values } = table;
  const by = sort[0]?.[0] ?? 'id';
  const fixed = ({ paths }: TableIndex): number => {
    const n = paths.findIndex((path) => getIndexUse(filter[path]) !== 'one');
    return paths[n] === by ? n : -1;
  };
  if (hasIdCondition(filter)) return { from: `FROM "${name}"`, columns, fixed: [] };
  const best = by === 'id' ? undefined : indexes.toSorted((a, b) => fixed(b) - fixed(a))[0];
  if (best !== undefined && fixed(best) >= 0)
    return { from: `FROM "${name}" INDEXED BY "${best.label}"`, columns, fixed: best.paths.slice(0, fixed(best)) };
  // Every matching document has a value there.
  const isAsked = (one: Filter): boolean =>
    ['one', 'range'].includes(getIndexUse(one[by]) ?? '') && !isFalseCondition(one[by]);
  const any = filter.or === undefined ? [] : getOrFilters(filter.or);
  const isWhole = isAsked(filter) || (any.length > 0 && any.every(isAsked));
  if (!values.includes(by) || !isWhole) return { from: `FROM "${name}"`, columns, fixed: [] };
  const from = `FROM ${getValuesTable(name)} v CROSS JOIN "${name}" ON "${name}".n = v.n AND v.path = '${by}'`;
  return { from, columns: new Map([...columns, [by, 'v.value']]), fixed: [] };
}

export function buildCountFrom({ name, indexes }: Table, filter: Filter, path: string | null): string {
  if (hasIdCondition(filter)) return `FROM "${name}"`;
  const filterPaths = Object.keys(filter).filter((one) => filter[one] !== undefined);
  const needed = path === null ? filterPaths : [...filterPaths, path];
  const covering = indexes.filter(({ paths }) => needed.every((one) => paths.includes(one)));
  const fixed = ({ paths }: TableIndex): number => {
    const n = paths.findIndex((one) => getIndexUse(filter[one]) !== 'one');
    return n < 0 ? paths.length : n;
  };
  const [best] = covering.toSorted((a, b) => fixed(b) - fixed(a));
  return `FROM "${name}"${filterPaths.length === 0 || best === undefined ? '' : ` INDEXED BY "${best.label}"`}`;
}

export function findFewRows(connection: Connection, table: Table, filter: Filter, sort: Sort | null): number[] | null {
  if (hasIdCondition(filter)) return null;
  const by = sort?.[0]?.[0] ?? 'id';
  const fixed = sort === null ? [] : chooseWalk(table, filter, sort).fixed;
  const own = [
    ...buildSideTableQueries(table, filter),
    ...(by === 'id' ? [] : buildIndexQueries(table, filter, fixed, by)),
  ];
  const any = filter.or === undefined ? [] : getOrFilters(filter.or);
  const most = getRowBound(connection, table);
  const rows = selectFirstFew(connection, own, most);
  if (rows !== null || any.length === 0) return rows;
  const all = new Set<number>();
  for (const one of any) {
    const ways = [
      ...buildSideTableQueries(table, one),
      ...buildIdQueries(table, one),
      ...buildIndexQueries(table, one, fixed, by),
    ];
    const found = selectFirstFew(connection, ways, most);
    if (found === null) return null;
    for (const row of found) all.add(row);
    if (all.size > most) return null;
  }
  return [...all];
}

function getRowBound(connection: Connection, { name }: Table): number {
  const [rows = 0] = connection.prepare(`SELECT max(n) FROM "${name}"`).get([]) ?? [];
  return Math.round(Math.min(MAX_ROW_BOUND, Math.max(MIN_ROW_BOUND, ROWS_PER_ROOT * Math.sqrt(Number(rows)))));
}

function selectFirstFew(connection: Connection, ways: readonly SqlFragment[], most: number): number[] | null {
  for (const { text, values } of ways.slice(0, MAX_COUNTED_CONDITIONS)) {
    const rows = connection.prepare(`${text} LIMIT ?`).all([...values, most + 1]);
    if (rows.length <= most) return rows.map(([n]) => n as number);
  }
  return null;
}

function buildSideTableQueries({ name, values, search }: Table, filter: Filter): SqlFragment[] {
  const match = buildMatch(filter, search);
  const texts = getSearchTable(name);
  const bySearch =
    match === null ? [] : [{ text: `SELECT rowid FROM ${texts} WHERE ${texts} MATCH ?`, values: [match] }];
  return [
    ...bySearch,
    ...values.flatMap((path) => {
      if (getIndexUse(filter[path]) === null || isFalseCondition(filter[path])) return [];
      const where = buildWhereSql([{ [path]: toScalarCondition(filter[path]) }], new Map([[path, 'value']]));
      const text = `SELECT DISTINCT n FROM ${getValuesTable(name)} WHERE path = '${path}' AND ${where.text}`;
      return [{ text, values: where.values }];
    }),
  ];
}

/** The side table has no rows for this condition. */
function isFalseCondition(condition: Filter[string]): boolean {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return condition === false;
  const { has, has_any, in: list } = condition as Exclude<Condition, Scalar>;
  return has === false || (has_any ?? list ?? []).includes(false);
}

function toScalarCondition(condition: Filter[string]): Filter[string] {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return condition;
  const { has, has_any, in: list, gt, gte, lt, lte, prefix } = condition as Exclude<Condition, Scalar>;
  if (has !== undefined) return has;
  const values = has_any ?? list;
  return values === undefined ? { gt, gte, lt, lte, prefix } : { in: values };
}

const buildIdQueries = ({ name, columns }: Table, { id }: Filter): SqlFragment[] => {
  if (id === undefined || getIndexUse(id) === null) return [];
  const { text, values } = buildWhereSql([{ id }], columns);
  return [{ text: `SELECT n FROM "${name}" WHERE ${text}`, values }];
};

function buildIndexQueries(
  { name, columns, indexes }: Table,
  filter: Filter,
  fixed: readonly string[],
  by: string,
): SqlFragment[] {
  const ranges = indexes.map(({ paths }) => selectRangePaths(paths, filter, by));
  const narrower = ranges.filter((range) => range.some((path) => !fixed.includes(path)));
  const distinct = [...new Map(narrower.map((range) => [range.toSorted().join(), range])).values()];
  return distinct
    .toSorted((a, b) => b.length - a.length)
    .map((range) => {
      const where = buildWhereSql([Object.fromEntries(range.map((path) => [path, filter[path]]))], columns);
      return { text: `SELECT n FROM "${name}" WHERE ${where.text}`, values: where.values };
    });
}

function selectRangePaths(paths: readonly string[], filter: Filter, by: string): string[] {
  const range: string[] = [];
  for (const path of paths) {
    const use = path === by || path === 'id' ? null : getIndexUse(filter[path]);
    if (use === null) break;
    range.push(path);
    if (use === 'range') break;
  }
  return range;
}

/** Returns `FROM …` for exactly these rows, with its parameters; the caller adds the WHERE. */
export function buildRowsFrom(name: string, rows: readonly number[]): SqlFragment {
  // The column names of json_each would shadow those of the table.
  const listed = `(SELECT value AS "~row" FROM json_each(?))`;
  return { text: `FROM ${listed} CROSS JOIN "${name}" ON "${name}".n = "~row"`, values: [JSON.stringify(rows)] };
}
