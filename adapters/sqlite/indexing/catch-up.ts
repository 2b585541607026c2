/**
 * Index catch-up (`Tuning.indexedLater`): a count moves an item in ten indexes, and each move is two pages of the
 * log. So a write of later paths changes the body alone and marks its row; within CATCH_UP_MS the writer brings the
 * columns of marked rows up to date, many in one transaction (../writing/background.ts).
 *
 * The mark is a column of the row itself, in the same transaction as the body, with an index over marked rows only.
 * So a crash leaves nothing to repair: until the columns have caught up, every reader, in whatever process, takes the
 * values of marked rows from their bodies, and those of all others from the columns (../reading/reads.ts). Answers
 * are exact at any moment.
 *
 * An insert may leave its columns behind too (`Tuning.insertsIndexedLater`): one new row is then in three trees
 * instead of some twenty, and the trees of the others change once for a hundred rows. Such a row is unindexed:
 * marked, and left out by the indexes that would hold it at a wrong place, so every statement that uses those indexes
 * says so (`indexedWhere`).
 *
 * Rejected: catching up before a find (under load a reader would never meet a moment without marks, and a cursor made
 * from a body that is newer than its column repeats rows), and a table of what is left to do (one more row for each
 * write).
 */
import { compareValues, totalSort, valueAt } from '../../../ports/document.js';
import type { Doc, Filter, Json, Sort } from '../../../ports/store.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import { isDamage } from '../driver/damage.js';
import type { Value } from '../driver/driver.js';
import { indexedAt } from '../sql/indexed-as.js';
import { INSERTED, isMarking, BEHIND, MARK, markLabel, marksOf, UNINDEXED } from '../schema/mark.js';
import { parsedBody } from '../body/stored-body.js';
import { columnName, columnsWith, expression, whereSql, type Columns, type Sql } from '../sql/translate.js';
import { columnValue, isSame } from '../sql/values.js';

/** Within this time the columns of marked rows catch up, in milliseconds. */
export const CATCH_UP_MS = 400;
/** Rows that catch up in one transaction, so that other writes wait no longer than that. */
const AT_ONCE = 100;
/** For `catchUp`: all rows. */
export const ALL = -1;

/** Tables in which rows may be marked. */
export function tablesWithMarks(connection: Connection): string[] {
  const rows = connection.prepare(`SELECT tbl_name, name FROM sqlite_master WHERE type = 'index'`).all([]);
  return rows
    .map((row) => row.map(String))
    .flatMap(([table = '', name = '']) => (isMarking(marksOf(table, [name])) ? [table] : []));
}

/** The columns that are as new as the body in every row. */
export const currentColumns = ({ columns, behind }: Table): Columns =>
  behind.length === 0
    ? columns
    : columnsWith(
        [...columns].filter((path) => !behind.includes(path)),
        columns.alias ?? null,
      );

/** Whether a filter or a sort reads one of `paths`. */
function isRead(paths: readonly string[], filters: readonly Filter[], sort: Sort): boolean {
  const all = filters.flatMap((filter) => [filter, ...(filter.or ?? [])]);
  return paths.some((path) => all.some((filter) => filter[path] !== undefined) || sort.some(([key]) => key === path));
}

/** Whether a filter or a sort reads a column of this table that lags behind in some row. */
export function isBehind(connection: Connection, name: string, filter: Filter, sort: Sort = []): boolean {
  const table = connection.table(name);
  if (table === null || table.behind.length === 0) return false;
  if (isRead(table.indexedLater, [filter], sort)) return hasMarked(connection, name, `${MARK} IS NOT NULL`);
  return table.insertsLater && isRead(table.behind, [filter], sort) && hasMarked(connection, name, IS_INSERTED);
}

const IS_INSERTED = `${MARK} = ${INSERTED}`;

const hasMarked = (connection: Connection, name: string, marked: string): boolean =>
  connection.prepare(`SELECT 1 FROM "${name}" WHERE ${marked} LIMIT 1`).get([]) !== undefined;

/** `WHERE …` of indexed rows, as their columns have them. @param sort what the statement reads besides */
export function indexedWhere(
  table: Table,
  filters: readonly Filter[],
  sort: Sort = [],
  aside?: ReadonlySet<string>,
): Sql {
  const { text, values } = whereSql(filters, table.columns, aside);
  const leaves = table.insertsLater && isRead(table.behind, filters, sort);
  return leaves ? { text: `${text} AND ${UNINDEXED} IS NULL`, values } : { text, values };
}

/** Row numbers of unindexed rows, at most so many. */
export function unindexedRows(connection: Connection, { name, insertsLater }: Table, most: number): number[] {
  if (!insertsLater) return [];
  const rows = connection.prepare(`SELECT rowid FROM "${name}" WHERE ${IS_INSERTED} LIMIT ?`).all([most]);
  return rows.map(([row]) => row as number);
}

/** The columns of marked rows catch up with the bodies, within a transaction. True when some may be left. */
export function catchUp(connection: Connection, name: string, most = AT_ONCE): boolean {
  const table = connection.table(name);
  if (table === null || table.behind.length === 0) return false;
  const inserted = table.insertsLater && indexInserted(connection, table, most);
  const changed = table.indexedLater.length > 0 && catchUpChanged(connection, table, most);
  connection.recent.catchUps += 1;
  return inserted || changed;
}

/** Unindexed rows get their columns, and join the indexes. */
function indexInserted(connection: Connection, { name, behind, alias }: Table, most: number): boolean {
  const rows = connection.prepare(`SELECT rowid, id FROM "${name}" WHERE ${IS_INSERTED} LIMIT ?`).all([most]);
  for (const [rowid = null, id = null] of rows) {
    const doc = unlessDamaged(() => docOf(connection, name, rowid, id));
    let set = `${MARK} = NULL, ${UNINDEXED} = NULL`;
    const values: Value[] = [];
    for (const path of doc === null ? [] : behind) {
      const value = columnValue(indexedAt(doc as Doc, path, alias));
      if (value === null) continue;
      set += `, ${columnName(path)} = ?`;
      values.push(value);
    }
    connection.prepare(`UPDATE "${name}" SET ${set} WHERE rowid = ?`).run([...values, rowid]);
  }
  return rows.length === most;
}

/**
 * A damaged row must not keep all others from their indexes: its mark goes and its columns stay as they are. Whoever
 * reads its body is told.
 */
function unlessDamaged<V>(read: () => V): V | null {
  try {
    return read();
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}

/**
 * The document without its compressed fields, which no index knows. Mostly it is at hand, since its row was written a
 * moment ago.
 * @throws DamagedText
 */
function docOf(connection: Connection, name: string, rowid: Value, id: Value): Doc {
  const recent = connection.recent.get(name, id as string)?.doc;
  if (recent !== undefined && recent !== null) return recent;
  const [body] = connection.prepare(`SELECT body FROM "${name}" WHERE rowid = ?`).get([rowid]) ?? [];
  return parsedBody(body as string);
}

/**
 * Only columns that are behind are written: SQLite moves a row in every index over a column that an UPDATE names, and a
 * claim, say, moves one of three.
 */
function catchUpChanged(connection: Connection, { name, indexedLater }: Table, most: number): boolean {
  const columns = ['rowid', 'id', ...indexedLater.map(columnName)].join();
  const rows = connection.prepare(`SELECT ${columns} FROM "${name}" WHERE ${MARK} = ${BEHIND} LIMIT ?`).all([most]);
  for (const [rowid = null, id = null, ...before] of rows) {
    const doc = unlessDamaged(() => docOf(connection, name, rowid, id));
    let set = `${MARK} = NULL`;
    const values: Value[] = [];
    for (const [i, path] of doc === null ? [] : indexedLater.entries()) {
      const value = columnValue(valueAt(doc as Doc, path));
      if (isSame(before[i] ?? null, value)) continue;
      set += `, ${columnName(path)} = ?`;
      values.push(value);
    }
    connection.prepare(`UPDATE "${name}" SET ${set} WHERE rowid = ?`).run([...values, rowid]);
  }
  return rows.length === most;
}

/**
 * `FROM … WHERE …` of marked rows, of those that are indexed, or of all others.
 * @param columns those to look at; the rest is read from the body
 */
export function among(
  part: 'marked' | 'changed' | 'others',
  table: Table,
  columns: Columns,
  filters: readonly Filter[],
  aside?: ReadonlySet<string>,
): Sql {
  const where = whereSql(filters, columns, aside);
  // Marked rows are few, so their index is always the best; for the others the plus keeps the planner's choice as it
  // is.
  const { name, insertsLater } = table;
  const marked = `FROM "${name}" INDEXED BY "${markLabel(name, table)}" WHERE ${MARK}`;
  const from =
    part === 'marked'
      ? `${marked} IS NOT NULL`
      : part === 'changed'
        ? `${marked} = ${BEHIND}`
        : `FROM "${name}" WHERE +${MARK} IS NULL${insertsLater ? ` AND ${UNINDEXED} IS NULL` : ''}`;
  return { text: `${from} AND ${where.text}`, values: where.values };
}

/** The first `rows` of both parts in the order of `sort`. @param what the column that is answered */
export function findInParts(
  connection: Connection,
  table: Table,
  request: { filters: readonly Filter[]; sort: Sort; rows: number; aside: ReadonlySet<string> | undefined },
  what: 'body' | 'id',
): Value[] {
  const order = totalSort(request.sort);
  const parts = (['others', 'marked'] as const).map((part) => {
    const columns = part === 'marked' ? currentColumns(table) : table.columns;
    const { text, values } = among(part, table, columns, request.filters, request.aside);
    const keys = order.map(([path]) => expression(path, columns));
    const by = order.map(([, direction], i) => `${keys[i]} ${direction === 'asc' ? 'ASC' : 'DESC'}`);
    const sql = `SELECT ${[what, ...keys].join()} ${text} ORDER BY ${by.join()} LIMIT ?`;
    return connection.rows(sql, [...values, request.rows], request.rows);
  });
  const rows = parts.flat().toSorted(inOrder(order));
  return rows.slice(0, request.rows).map(([first = null]) => first);
}

/** Compares rows by the keys that stand behind their first column. */
function inOrder(order: Sort): (a: Value[], b: Value[]) => number {
  return (a, b) => {
    for (const [i, [, direction]] of order.entries()) {
      const difference = compareValues(ranked(a[i + 1] ?? null), ranked(b[i + 1] ?? null));
      if (difference !== 0) return direction === 'asc' ? difference : -difference;
    }
    return 0;
  };
}

/** What `columnValue` made of a value, for comparing. */
function ranked(value: Value): Json {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return value[0] === 0 ? {} : value[0] === 2;
}
