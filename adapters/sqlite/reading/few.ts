/**
 * Which way a find goes. SQLite keeps no statistics of values, so it would sort all that a condition finds, however
 * many there are, or walk a whole index for two matches. Here each condition that an index or a side table knows is
 * asked, up to a bound, how many rows can match: few are read and sorted; of many, the index of the order meets a page
 * soon.
 */
import { listOrFilters } from '../../../ports/document.js';
import type { Condition, Filter, Scalar, Sort } from '../../../ports/store.js';
import type { Connection } from '../connection/connection.js';
import type { Table, TableIndex } from '../connection/table.js';
import { buildMatch, searchTable, valuesTable } from '../schema/side-tables.js';
import { whereSql, type Columns, type Sql } from '../sql/translate.js';

/**
 * A page of fifty is found after 50 × all ÷ matching steps of the walk, and a step costs about what reading a row does:
 * so the bound grows with the root of all.
 */
const PER_ROOT = 8;
const FEWEST = 500;
const MOST = 10_000;
/** Conditions of one filter that are asked at the most. */
const ASKED = 4;

/** What an index can do with a condition. */
type Use = 'one' | 'some' | 'range' | null;

function useOf(condition: Filter[string]): Use {
  if (condition === undefined || condition === null || Array.isArray(condition)) return null;
  if (typeof condition !== 'object') return 'one';
  const { in: list, has, has_any, ...c } = condition as Exclude<Condition, Scalar>;
  if (has !== undefined) return has === null ? null : 'some';
  const values = list ?? has_any;
  if (values !== undefined) return values.length > 0 && !values.includes(null) ? 'some' : null;
  return [c.gt, c.gte, c.lt, c.lte, c.prefix].some((bound) => bound !== undefined) ? 'range' : null;
}

/** Names documents by their ids: SQLite looks these up. */
const isNamed = ({ id }: Filter): boolean => ['one', 'some'].includes(useOf(id) ?? '');

/** The way along the order of a list. */
export interface Walk {
  /** `FROM …` */
  from: string;
  columns: Columns;
  /** Paths that hold one value each on this way. */
  fixed: readonly string[];
}

/** Along the index that is in this order, or the values of its first path; where there is none, SQLite finds a way. */
export function chooseWalk(table: Table, filter: Filter, sort: Sort = []): Walk {
  const { name, columns, indexes, values } = table;
  const by = sort[0]?.[0] ?? 'id';
  const fixed = ({ paths }: TableIndex): number => {
    const n = paths.findIndex((path) => useOf(filter[path]) !== 'one');
    return paths[n] === by ? n : -1;
  };
  if (isNamed(filter)) return { from: `FROM "${name}"`, columns, fixed: [] };
  const best = by === 'id' ? undefined : indexes.toSorted((a, b) => fixed(b) - fixed(a))[0];
  if (best !== undefined && fixed(best) >= 0)
    return { from: `FROM "${name}" INDEXED BY "${best.label}"`, columns, fixed: best.paths.slice(0, fixed(best)) };
  // Every document that matches has a value there.
  const isAsked = (one: Filter): boolean => ['one', 'range'].includes(useOf(one[by]) ?? '') && !asksForFalse(one[by]);
  const any = filter.or === undefined ? [] : listOrFilters(filter.or);
  const isWhole = isAsked(filter) || (any.length > 0 && any.every(isAsked));
  if (!values.includes(by) || !isWhole) return { from: `FROM "${name}"`, columns, fixed: [] };
  const from = `FROM ${valuesTable(name)} v CROSS JOIN "${name}" ON "${name}".n = v.n AND v.path = '${by}'`;
  return { from, columns: new Map([...columns, [by, 'v.value']]), fixed: [] };
}

/** What a count reads: an index that holds all that is asked, by its longest beginning; else SQLite finds a way. */
export function countedFrom({ name, indexes }: Table, filter: Filter, path: string | null): string {
  const asked = Object.keys(filter).filter((one) => filter[one] !== undefined);
  const needed = path === null ? asked : [...asked, path];
  const covering = indexes.filter(({ paths }) => needed.every((one) => paths.includes(one)));
  const fixed = ({ paths }: TableIndex): number => {
    const n = paths.findIndex((one) => useOf(filter[one]) !== 'one');
    return n < 0 ? paths.length : n;
  };
  const [best] = covering.toSorted((a, b) => fixed(b) - fixed(a));
  return `FROM "${name}"${asked.length === 0 || best === undefined ? '' : ` INDEXED BY "${best.label}"`}`;
}

/** Rows among which all are that the filter matches, each once; null when they are not known to be few. */
export function fewRows(connection: Connection, table: Table, filter: Filter, sort: Sort | null): number[] | null {
  if (isNamed(filter)) return null;
  const by = sort?.[0]?.[0] ?? 'id';
  const fixed = sort === null ? [] : chooseWalk(table, filter, sort).fixed;
  // Without an order, and in that of the ids, SQLite takes the index that fits the filter by itself.
  const own = [...sideWays(table, filter), ...(by === 'id' ? [] : indexWays(table, filter, fixed, by))];
  const any = filter.or === undefined ? [] : listOrFilters(filter.or);
  const most = boundOf(connection, table);
  const rows = firstFew(connection, own, most);
  if (rows !== null || any.length === 0) return rows;
  // Of alternatives SQLite takes no index; where none has a side table, the walk meets one of them soon.
  const all = new Set<number>();
  for (const one of any) {
    const ways = [...sideWays(table, one), ...idWay(table, one), ...indexWays(table, one, fixed, by)];
    const found = firstFew(connection, ways, most);
    if (found === null) return null;
    for (const row of found) all.add(row);
    if (all.size > most) return null;
  }
  return [...all];
}

function boundOf(connection: Connection, { name }: Table): number {
  const [rows = 0] = connection.prepare(`SELECT max(n) FROM "${name}"`).get([]) ?? [];
  return Math.round(Math.min(MOST, Math.max(FEWEST, PER_ROOT * Math.sqrt(Number(rows)))));
}

/** What the first of these finds that finds few. */
function firstFew(connection: Connection, ways: readonly Sql[], most: number): number[] | null {
  for (const { text, values } of ways.slice(0, ASKED)) {
    const rows = connection.prepare(`${text} LIMIT ?`).all([...values, most + 1]);
    if (rows.length <= most) return rows.map(([n]) => n as number);
  }
  return null;
}

function sideWays({ name, values, search }: Table, filter: Filter): Sql[] {
  const match = buildMatch(filter, search);
  const texts = searchTable(name);
  const bySearch =
    match === null ? [] : [{ text: `SELECT rowid FROM ${texts} WHERE ${texts} MATCH ?`, values: [match] }];
  return [
    ...bySearch,
    ...values.flatMap((path) => {
      if (useOf(filter[path]) === null || asksForFalse(filter[path])) return [];
      const where = whereSql([{ [path]: scalarCondition(filter[path]) }], new Map([[path, 'value']]));
      const text = `SELECT DISTINCT n FROM ${valuesTable(name)} WHERE path = '${path}' AND ${where.text}`;
      return [{ text, values: where.values }];
    }),
  ];
}

/** Of which the values have nothing. */
function asksForFalse(condition: Filter[string]): boolean {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return condition === false;
  const { has, has_any, in: list } = condition as Exclude<Condition, Scalar>;
  return has === false || (has_any ?? list ?? []).includes(false);
}

/** What one of the values has to be. */
function scalarCondition(condition: Filter[string]): Filter[string] {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return condition;
  const { has, has_any, in: list, gt, gte, lt, lte, prefix } = condition as Exclude<Condition, Scalar>;
  if (has !== undefined) return has;
  const values = has_any ?? list;
  return values === undefined ? { gt, gte, lt, lte, prefix } : { in: values };
}

const idWay = ({ name, columns }: Table, { id }: Filter): Sql[] => {
  if (id === undefined || useOf(id) === null) return [];
  const { text, values } = whereSql([{ id }], columns);
  return [{ text: `SELECT n FROM "${name}" WHERE ${text}`, values }];
};

/** By ranges of indexes, the narrowest first; none where the walk narrows as much. */
function indexWays({ name, columns, indexes }: Table, filter: Filter, fixed: readonly string[], by: string): Sql[] {
  const ranges = indexes.map(({ paths }) => rangeOf(paths, filter, by));
  const narrower = ranges.filter((range) => range.some((path) => !fixed.includes(path)));
  const distinct = [...new Map(narrower.map((range) => [range.toSorted().join(), range])).values()];
  return distinct
    .toSorted((a, b) => b.length - a.length)
    .map((range) => {
      const where = whereSql([Object.fromEntries(range.map((path) => [path, filter[path]]))], columns);
      return { text: `SELECT n FROM "${name}" WHERE ${where.text}`, values: where.values };
    });
}

/** The leading paths of an index that make a range of it. */
function rangeOf(paths: readonly string[], filter: Filter, by: string): string[] {
  const range: string[] = [];
  for (const path of paths) {
    const use = path === by || path === 'id' ? null : useOf(filter[path]);
    if (use === null) break;
    range.push(path);
    if (use === 'range') break;
  }
  return range;
}

/** `FROM …`, those rows one by one, and its parameters: the filter follows in a WHERE. */
export function fromRows(name: string, rows: readonly number[]): Sql {
  // The names of json_each's columns would hide those of the table.
  const listed = `(SELECT value AS "~row" FROM json_each(?))`;
  return { text: `FROM ${listed} CROSS JOIN "${name}" ON "${name}".n = "~row"`, values: [JSON.stringify(rows)] };
}
