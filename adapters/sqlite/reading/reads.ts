/** The read operations on one connection: what may scan runs here, on a worker, never on the main thread. */
import { afterStretches } from '../../../ports/cursor.js';
import { checkPath } from '../../../ports/document.js';
import type { Filter, Scalar, Sort } from '../../../ports/store.js';
import { candidatesOf, fromCandidates, planOf } from '../lookups/candidates.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import type { FindRequest, GroupRequest, ReadKind, StoredWhole } from '../threads/messages.js';
import { aliasCondition, ALIASED, aliasLabel, asStored } from '../sql/indexed-as.js';
import type { IndexedAs } from '../../../ports/store/tuning.js';
import { expression, orderSql, whereSql, type Columns, type Sql } from '../sql/translate.js';
import { among, findInParts, isBehind, currentColumns, indexedWhere } from '../indexing/catch-up.js';
import type { Driver } from '../driver/driver.js';
import { bytesColumn } from '../schema/bytes-column.js';
import { scalarOf } from '../sql/values.js';
import { salvage } from './salvage.js';
import { wholeBody } from '../body/stored-body.js';

type Read = (connection: Connection, table: Table, text: string) => unknown;

/** What each read answers for a table that exists, and for a collection without one. */
const READS: Record<Exclude<ReadKind, 'render'>, [read: Read, empty: unknown]> = {
  get: [
    (connection, { name }, id) => {
      const [body = null] = connection.prepare(`SELECT body FROM "${name}" WHERE id = ?`).get([id]) ?? [];
      return body === null ? null : wholeBody(body as string);
    },
    null,
  ],
  whole: [(connection, { name, bytes }, id) => readWhole(connection, name, bytes, id), null],
  find: [(connection, table, text) => find(connection, table, JSON.parse(text) as FindRequest, 'body'), []],
  ids: [(connection, table, text) => find(connection, table, JSON.parse(text) as FindRequest, 'id'), []],
  salvage: [(connection, table, text) => salvage(connection, table, JSON.parse(text) as FindRequest), []],
  count: [(connection, table, text) => count(connection, table, JSON.parse(text) as Filter), 0],
  groupCount: [(connection, table, text) => groupCount(connection, table, JSON.parse(text) as GroupRequest), []],
};

/** A document's body and bytes, of one moment; null: it is not there. @throws DamagedText, or the driver's error */
export function readWhole(
  connection: Pick<Driver, 'prepare'>,
  name: string,
  bytes: string | undefined,
  id: string,
): StoredWhole | null {
  const columns = bytes === undefined ? 'body, NULL' : `body, ${bytesColumn(bytes)}`;
  const row = connection.prepare(`SELECT ${columns} FROM "${name}" WHERE id = ?`).get([id]);
  return row === undefined ? null : [wholeBody(row[0] as string), (row[1] ?? null) as Uint8Array | null];
}

/** Answers with bodies or ids, a number, or groups. @throws TypeError (a programming error) or the driver's error */
export function performRead(
  connection: Connection,
  [kind, name, text]: readonly [kind: Exclude<ReadKind, 'render'>, name: string, text: string],
): unknown {
  connection.refresh();
  const table = connection.table(name);
  const [read, empty] = READS[kind];
  return table ? read(connection, table, text) : empty;
}

/** The statement of one stretch of a find. Its last parameter is the number of rows. */
export function findSql(
  table: Table,
  { filter, sort }: Pick<FindRequest, 'filter' | 'sort'>,
  stretch: Filter,
  what: 'body' | 'id',
  aside?: ReadonlySet<string>,
): Sql {
  const where = indexedWhere(table, [filter, stretch], sort, aside);
  const order = orderSql(sort, table.columns);
  return {
    text: `SELECT ${what} FROM "${table.name}" WHERE ${where.text} ORDER BY ${order} LIMIT ?`,
    values: where.values,
  };
}

export function find(connection: Connection, table: Table, request: FindRequest, what: 'body' | 'id'): unknown[] {
  const found = findStored(connection, table, request, what);
  return what === 'id' ? found : found.map((body) => wholeBody(body as string));
}

function findStored(connection: Connection, table: Table, request: FindRequest, what: 'body' | 'id'): unknown[] {
  const { name, behind } = table;
  const { filter, sort, after } = request;
  const plan = planOf(table, filter, sort);
  const plainly = (stretch: Filter, rows: number): unknown[] => {
    const sql = findSql(table, request, stretch, what, plan?.aside);
    return connection.rows(sql.text, [...sql.values, rows], rows).map(([value]) => value);
  };
  if (after === null && behind.length === 0 && plan === null) return plainly({}, request.rows);
  // One snapshot for all statements: a document that moves meanwhile is not seen twice.
  return snapshot(connection, () => {
    const few = plan === null ? null : candidatesOf(connection, table, plan);
    if (few !== null) return findAmong(connection, table, request, few, what);
    const inParts = (stretch: Filter, rows: number): unknown[] =>
      findInParts(connection, table, { filters: [filter, stretch], sort, rows, aside: plan?.aside }, what);
    const read = isBehind(connection, name, filter, sort) ? inParts : plainly;
    const found: unknown[] = [];
    for (const stretch of after === null ? [{}] : afterStretches(sort, after)) {
      if (found.length >= request.rows) break;
      found.push(...read(stretch, request.rows - found.length));
    }
    return found;
  });
}

function findAmong(
  connection: Connection,
  table: Table,
  { filter, sort, after, rows }: FindRequest,
  candidates: readonly number[],
  what: 'body' | 'id',
): unknown[] {
  const from = fromCandidates(table.name, candidates);
  const columns = isBehind(connection, table.name, filter, sort) ? currentColumns(table) : table.columns;
  const where = whereSql(after === null ? [filter] : [filter, { or: afterStretches(sort, after) }], columns);
  const order = orderSql(sort, columns);
  const sql = `SELECT "${table.name}".rowid ${from.text} WHERE ${where.text} ORDER BY ${order} LIMIT ?`;
  const found = connection.prepare(sql).all([...from.values, ...where.values, rows]);
  // The bodies are read for this page alone: sorting them would copy every candidate's.
  const one = connection.prepare(`SELECT ${what} FROM "${table.name}" WHERE rowid = ?`);
  return found.map(([row = null]) => one.get([row])?.[0]);
}

function snapshot<V>(connection: Connection, read: () => V): V {
  connection.prepare('BEGIN').run([]);
  try {
    return read();
  } finally {
    connection.prepare('COMMIT').run([]);
  }
}

function count(connection: Connection, table: Table, filter: Filter): number {
  const counted = ({ text, values }: Sql): number =>
    connection.prepare(`SELECT count(*) ${text}`).get(values)?.[0] as number;
  const parts = apart(table, filter);
  const all = (): number =>
    parts === null ? counted(everywhere(table, filter)) : counted(parts.whole) - counted(parts.aliased);
  const plan = planOf(table, filter, null);
  if (table.behind.length === 0 && plan === null && parts === null) return all();
  return snapshot(connection, () => {
    const few = plan === null ? null : candidatesOf(connection, table, plan);
    if (few !== null) {
      const from = fromCandidates(table.name, few);
      const columns = isBehind(connection, table.name, filter) ? currentColumns(table) : table.columns;
      const where = whereSql([filter], columns);
      return counted({ text: `${from.text} WHERE ${where.text}`, values: [...from.values, ...where.values] });
    }
    if (!isBehind(connection, table.name, filter)) return all();
    const [stale, exact] = ofMarked(table, filter);
    return all() - counted(stale) + counted(exact);
  });
}

function groupCount(connection: Connection, table: Table, request: GroupRequest): { key: Scalar; n: number }[] {
  const { filter } = request;
  const { alias } = table;
  const path = checkPath(request.path);
  const by: Sort = [[path, 'asc']];
  const sums = new Map<Scalar, number>();
  const add = (key: Scalar, n: number): void => void sums.set(key, (sums.get(key) ?? 0) + n);
  const grouped = ({ text, values }: Sql, columns: Columns, sign = 1): void => {
    const sql = `SELECT ${expression(path, columns)}, count(*) ${text} GROUP BY 1`;
    for (const [value = null, n] of connection.prepare(sql).all(values)) add(scalarOf(value), sign * (n as number));
  };
  const all = (): void => {
    const parts = apart(table, filter, by);
    if (alias?.path === path && filter[path] === undefined && !isNamedAside(alias, filter)) {
      const raw = asStored(table);
      grouped(everywhere(raw, filter, by), raw.columns);
      const { text, values } = aliasedWhere(table, alias, filter);
      const n = connection.prepare(`SELECT count(*) ${text}`).get(values)?.[0] as number;
      add(alias.as, -n);
      add(alias.value, n);
    } else if (parts === null) grouped(everywhere(table, filter, by), table.columns);
    else {
      grouped(parts.whole, table.columns);
      grouped(parts.aliased, table.columns, -1);
    }
  };
  const read = (): { key: Scalar; n: number }[] => {
    all();
    if (isBehind(connection, table.name, filter, by)) {
      const [stale, exact] = ofMarked(table, filter);
      grouped(stale, table.columns, -1);
      grouped(exact, currentColumns(table));
    }
    return [...sums].flatMap(([key, n]) => (n > 0 ? [{ key, n }] : []));
  };
  return table.behind.length === 0 && alias === null ? read() : snapshot(connection, read);
}

/**
 * A filter by the value that stands for an aliased one, in two parts: all rows that are indexed under that value, which
 * an index counts, and the few aliased rows among them. Null: the filter asks for no such value.
 */
function apart(table: Table, filter: Filter, sort: Sort = []): { whole: Sql; aliased: Sql } | null {
  const { alias, columns } = table;
  const asked = alias !== null && columns.has(alias.path) ? aliasCondition(filter[alias.path], alias) : null;
  if (alias === null || asked?.aliased !== 'none' || isNamedAside(alias, filter)) return null;
  return { whole: everywhere(asStored(table), filter, sort), aliased: aliasedWhere(table, alias, filter) };
}

/** Whether an alternative asks for the aliased path. */
const isNamedAside = ({ path }: IndexedAs, { or = [] }: Filter): boolean => or.some((one) => one[path] !== undefined);

/** The aliased rows for which the rest of a filter holds. */
function aliasedWhere(table: Table, alias: IndexedAs, filter: Filter): Sql {
  const aliased = { ...filter, [alias.path]: undefined, [ALIASED]: alias.value };
  const { text, values } = indexedWhere(table, [aliased]);
  return { text: `FROM "${table.name}" INDEXED BY "${aliasLabel(table.name, alias)}" WHERE ${text}`, values };
}

function everywhere(table: Table, filter: Filter, sort?: Sort): Sql {
  const { text, values } = indexedWhere(table, [filter], sort);
  return { text: `FROM "${table.name}" WHERE ${text}`, values };
}

/**
 * The marked rows twice: as the columns have them, for the count over all columns holds them so (unindexed rows aside),
 * and as the bodies have them. Rejected: counting the unmarked rows alone, which looks at each row, not at an index.
 */
const ofMarked = (table: Table, filter: Filter): [stale: Sql, exact: Sql] => [
  among('changed', table, table.columns, [filter]),
  among('marked', table, currentColumns(table), [filter]),
];
