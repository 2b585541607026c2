/**
 * Deferred columns (ports/store.ts, CollectionSpec): a count moves an item in ten indexes, and each move is two pages of the
 * log. So a write of deferred paths changes the body alone and marks its row; the writer settles marked rows within SETTLE_MS,
 * many in one transaction (writer.ts).
 *
 * The mark is a column of the row itself, in the same transaction as the body, with an index over marked rows only. So a crash
 * leaves nothing to repair: until somebody settles them, every reader, in whatever process, takes the values of marked rows
 * from their bodies, and those of all others from the columns (reads.ts). Answers are exact at any moment.
 *
 * Rejected: settling before a find (under load a reader would never meet a settled moment, and a cursor made from a body that
 * is newer than its column repeats rows), and a table of what is to be done (one more row for each write).
 */
import { compareValues, totalSort } from '../../ports/document.js';
import type { Filter, Json, Sort } from '../../ports/store.js';
import type { Connection, Table } from './connection.js';
import type { Value } from './driver.js';
import { deferredOf, MARK, markLabel } from './mark.js';
import { columnName, expression, whereSql, type Columns, type Sql } from './translate.js';
import { bodyExpression, isSame } from './values.js';

/** Within this time marked rows are settled, in milliseconds. */
export const SETTLE_MS = 400;
/** Rows that one transaction settles: other writes wait for no more. */
const AT_ONCE = 100;
/** For `settle`: all rows. */
export const ALL = -1;

/** Tables with deferred columns. */
export function tablesWithMarks(connection: Connection): string[] {
  const rows = connection.prepare(`SELECT tbl_name, name FROM sqlite_master WHERE type = 'index'`).all([]);
  return rows
    .map((row) => row.map(String))
    .flatMap(([table = '', name = '']) => (deferredOf(table, [name]).length > 0 ? [table] : []));
}

/** The columns that are as new as the body in every row. */
export const settledColumns = ({ columns, deferred }: Table): Columns =>
  deferred.length === 0 ? columns : new Set([...columns].filter((path) => !deferred.includes(path)));

/** Whether a filter or a sort reads a deferred column of this table while some rows are marked. */
export function isUnsettled(connection: Connection, name: string, filter: Filter, sort: Sort = []): boolean {
  const deferred = connection.table(name)?.deferred ?? [];
  if (deferred.length === 0) return false;
  const filters = [filter, ...(filter.or ?? [])];
  const reads = (path: string): boolean =>
    filters.some((one) => one[path] !== undefined) || sort.some(([key]) => key === path);
  return deferred.some(reads) && isMarked(connection, name);
}

const isMarked = (connection: Connection, name: string): boolean =>
  connection.prepare(`SELECT 1 FROM "${name}" WHERE ${MARK} IS NOT NULL LIMIT 1`).get([]) !== undefined;

/**
 * Settles marked rows, within a transaction. True when some may be left. Only columns that lag behind are written: SQLite moves a row in
 * every index over a column that an UPDATE names, and a claim, say, moves one of three.
 */
export function settle(connection: Connection, name: string, most = AT_ONCE): boolean {
  const deferred = connection.table(name)?.deferred ?? [];
  if (deferred.length === 0) return false;
  const both = deferred.flatMap((path) => [columnName(path), bodyExpression(path)]);
  const marked = `SELECT rowid, ${both.join()} FROM "${name}" WHERE ${MARK} IS NOT NULL LIMIT ?`;
  const rows = connection.prepare(marked).all([most]);
  for (const [rowid = null, ...values] of rows) {
    const lagging = deferred.flatMap((path, i) => {
      const [column = null, body = null] = values.slice(2 * i);
      return isSame(column, body) ? [] : [[columnName(path), body] as const];
    });
    const set = [...lagging.map(([column]) => `${column} = ?`), `${MARK} = NULL`].join();
    connection
      .prepare(`UPDATE "${name}" SET ${set} WHERE rowid = ?`)
      .run([...lagging.map(([, value]) => value), rowid]);
  }
  connection.recent.settled += 1;
  return rows.length === most;
}

/** `FROM … WHERE …` of marked rows, or of all others. @param columns those to look at; the rest is read from the body */
export function among(
  part: 'marked' | 'others',
  { name, deferred }: Table,
  columns: Columns,
  filters: readonly Filter[],
  aside?: ReadonlySet<string>,
): Sql {
  const where = whereSql(filters, columns, aside);
  // Marked rows are few, so their index is always the one to take; for the others the plus keeps the planner's choice as it is.
  const from =
    part === 'marked'
      ? `FROM "${name}" INDEXED BY "${markLabel(name, deferred)}" WHERE ${MARK} IS NOT NULL`
      : `FROM "${name}" WHERE +${MARK} IS NULL`;
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
    const columns = part === 'marked' ? settledColumns(table) : table.columns;
    const { text, values } = among(part, table, columns, request.filters, request.aside);
    const keys = order.map(([path]) => expression(path, columns));
    const by = order.map(([, direction], i) => `${keys[i]} ${direction === 'asc' ? 'ASC' : 'DESC'}`);
    const sql = `SELECT ${[what, ...keys].join()} ${text} ORDER BY ${by.join()} LIMIT ?`;
    return connection.prepare(sql).all([...values, request.rows]);
  });
  const rows = parts.flat().toSorted(inOrder(order));
  return rows.slice(0, request.rows).map(([first = null]) => first);
}

/** By the keys behind the first column. */
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
