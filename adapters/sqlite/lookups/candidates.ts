/**
 * Which way a find goes. SQLite keeps no statistics of values, so it walks a list in its order also when two
 * documents of a million match. Here each condition that an index or a look-up knows is asked, up to a bound, how
 * many documents can match: if they are few, those are read and sorted; otherwise many match, and the walk in order
 * meets them soon.
 */
import { BoundedMap } from '../../../lib/bounded-map.js';
import { alternatives } from '../../../ports/document.js';
import type { Condition, Filter, Sort } from '../../../ports/store.js';
import type { Connection } from '../connection/connection.js';
import type { Table, TableIndex } from '../connection/table.js';
import { aliasCondition, ALIASED, asStored } from '../sql/indexed-as.js';
import { rowsByTerms } from './lookups.js';
import { matchOf } from './terms.js';
import type { Sql } from '../sql/translate.js';
import { unindexedRows, indexedWhere } from '../indexing/catch-up.js';

/**
 * So many documents are looked up at most, by the square root of all: a look-up costs about what a step of the walk
 * does, and a walk finds a page of fifty after 50 × all ÷ matching steps.
 */
const PER_ROOT = 8;
const FEWEST = 500;
const MOST = 10_000;
/** Indexes that one filter asks at the most. */
const ASKED = 3;
/**
 * Milliseconds for which it is remembered that a range holds many: counting them costs as much as reading a few would,
 * and a list of a project asks with every page. A range that has become small is walked meanwhile: the same answer.
 */
const MANY = { most: 500, ttlMs: 10_000 };
const many = new WeakMap<Connection, BoundedMap<true>>();

/** A flat filter's ways: by look-ups, and by ranges of indexes over the paths of one each. */
interface Ways {
  match: string | null;
  indexed: readonly (readonly string[])[];
  filter: Filter;
}

/** What may be asked; null when the walk is best, or the only way. Pure. */
export interface Plan {
  /** Of the filter itself. */
  ways: Ways;
  /** Of each of its alternatives, which together hold all that can match; null when one of them has none. */
  alternatives: readonly Ways[] | null;
  /** Paths with an index that leads astray when many match: SQLite would sort them all. */
  aside: ReadonlySet<string>;
}

/** @param sort null: no order is asked for, as in a count */
export function planOf(table: Table, given: Filter, sort: Sort | null): Plan | null {
  const filter = mappedFilter(table, given);
  if (typeof filter['id'] === 'string') return null;
  const by = sort?.[0]?.[0] ?? 'id';
  // In the order of the ids, or in none, SQLite takes the index that fits the filter; of alternatives it takes none.
  const walked = new Set([by, ...longest(table.indexes.map((index) => walkedOf(index, filter, by)))]);
  const all = waysOf(table, filter, by, walked);
  const ways = by === 'id' ? { ...all, indexed: [] } : all;
  const any =
    filter.or === undefined
      ? []
      : alternatives(filter.or).map((one) => waysOf(withIds(table), mappedFilter(table, one), by, walked));
  const usable = any.length > 0 && any.every(isUsable) ? any : null;
  if (!isUsable(ways) && usable === null) return null;
  return { ways, alternatives: usable, aside: new Set(ways.indexed.flat().filter((path) => !walked.has(path))) };
}

/**
 * The filter as the columns alone have it. What it finds besides is left out when the candidates are read. Those that
 * are aliased have an index of their own.
 */
function mappedFilter({ alias, columns }: Table, filter: Filter): Filter {
  if (alias === null || !columns.has(alias.path) || filter[alias.path] === undefined) return filter;
  const { [alias.path]: condition, ...more } = filter;
  const asked = aliasCondition(condition, alias);
  if (asked === null) return more;
  if (asked.aliased === 'only' && !asked.others) return { ...more, [ALIASED]: alias.value };
  return { ...more, [alias.path]: asked.in.length === 1 ? asked.in[0] : { in: asked.in } };
}

/** Alternatives may name documents by their ids, of which no index is declared. */
const withIds = (table: Table): Table => ({ ...table, indexes: [...table.indexes, { paths: ['id'], needed: null }] });

const isUsable = ({ match, indexed }: Ways): boolean => match !== null || indexed.length > 0;

function waysOf(table: Table, filter: Filter, by: string, walked: ReadonlySet<string>): Ways {
  return { match: matchOf(filter, table.lookups), indexed: rangesOf(table, filter, by, walked), filter };
}

/** The paths of each index that together narrow the filter, the most first; none where the walk narrows as much. */
function rangesOf(
  { indexes, indexedLater }: Table,
  filter: Filter,
  by: string,
  walked: ReadonlySet<string>,
): string[][] {
  const ranges = indexes
    .flatMap(({ paths, needed }) => {
      const range = rangeOf(paths, filter, (path) => path === by || indexedLater.includes(path));
      return needed === null || range.includes(needed) ? [range] : [];
    })
    .filter((range) => range.some((path) => !walked.has(path)));
  const distinct = [...new Map(ranges.map((range) => [range.toSorted().join(), range])).values()];
  return distinct.toSorted((a, b) => b.length - a.length).slice(0, ASKED);
}

const longest = (lists: readonly (readonly string[])[]): readonly string[] =>
  lists.reduce((best, list) => (list.length > best.length ? list : best), []);

/** The paths that hold one value each in the stretch of `index` that is in the order of `by`. */
function walkedOf({ paths, needed }: TableIndex, filter: Filter, by: string): readonly string[] {
  const n = paths.findIndex((path) => kindOf(filter[path]) !== 'one');
  const serves = needed === null || kindOf(filter[needed]) !== null;
  return serves && paths[n] === by ? paths.slice(0, n) : [];
}

/** The leading paths of `index` that make a range of it. */
function rangeOf(index: readonly string[], filter: Filter, isBarred: (path: string) => boolean): string[] {
  const paths: string[] = [];
  for (const path of index) {
    const kind = isBarred(path) ? null : kindOf(filter[path]);
    if (kind === null) break;
    paths.push(path);
    if (kind === 'range') break;
  }
  return paths;
}

/** What an index can do with a condition. */
function kindOf(condition: Filter[string]): 'one' | 'some' | 'range' | null {
  if (condition === undefined || condition === null) return null;
  if (typeof condition !== 'object') return 'one';
  const c = condition as Exclude<Condition, string | number | boolean | null>;
  if (c.in !== undefined)
    return c.in.length > 0 && c.in.every((value) => typeof value === 'string' || typeof value === 'number')
      ? 'some'
      : null;
  return [c.gt, c.gte, c.lt, c.lte, c.prefix].some((bound) => bound !== undefined) ? 'range' : null;
}

/**
 * Row numbers among which all are that the filter matches, each once; null when they are not known to be few. Within
 * a snapshot.
 */
export function candidatesOf(connection: Connection, table: Table, plan: Plan): number[] | null {
  const [rows = 0] = connection.prepare(`SELECT max(rowid) FROM "${table.name}"`).get([]) ?? [];
  const most = Math.round(Math.min(MOST, Math.max(FEWEST, PER_ROOT * Math.sqrt(Number(rows)))));
  const own = rowsOf(connection, table, plan.ways, most);
  if (own !== null) return [...new Set(own)];
  if (plan.alternatives === null) return null;
  const all = new Set<number>();
  for (const ways of plan.alternatives) {
    const found = rowsOf(connection, table, ways, most);
    if (found === null) return null;
    for (const row of found) all.add(row);
    if (all.size > most) return null;
  }
  return [...all];
}

function rowsOf(connection: Connection, table: Table, ways: Ways, most: number): number[] | null {
  const byTerms = ways.match === null ? null : rowsByTerms(connection, table.name, ways.match, most);
  if (byTerms !== null) return byTerms;
  const known = many.get(connection) ?? new BoundedMap<true>(MANY);
  many.set(connection, known);
  const crowded: (readonly string[])[] = [];
  for (const paths of ways.indexed) {
    // Fewer conditions never leave fewer rows.
    if (crowded.some((more) => paths.every((path) => more.includes(path)))) continue;
    const range = Object.fromEntries(paths.map((path) => [path, ways.filter[path]]));
    const { text, values } = indexedWhere(asStored(table), [range]);
    const sql = `SELECT rowid FROM "${table.name}" WHERE ${text} LIMIT ?`;
    const key = `${sql} ${JSON.stringify(values)}`;
    if (known.get(key) === undefined) {
      const rows = connection.prepare(sql).all([...values, most + 1]);
      rows.push(...unindexedRows(connection, table, most + 1).map((row) => [row]));
      if (rows.length <= most) return rows.map(([row]) => row as number);
      known.set(key, true);
    }
    crowded.push(paths);
  }
  return null;
}

/** `FROM …`, those rows one by one, and its parameters: the filter follows in a WHERE. */
export function fromCandidates(name: string, rows: readonly number[]): Sql {
  // The names of json_each's columns would hide those of the table.
  const listed = `(SELECT value AS "~row" FROM json_each(?))`;
  return { text: `FROM ${listed} CROSS JOIN "${name}" ON "${name}".rowid = "~row"`, values: [JSON.stringify(rows)] };
}
