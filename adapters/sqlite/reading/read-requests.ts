import { toAfterFilters } from '../../../ports/cursor.js';
import { checkPath } from '../../../ports/document.js';
import type { Filter, Scalar } from '../../../ports/store/index.js';
import { restoreBody } from '../stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import { toSqlExpression, buildOrderSql, buildWhereSql, type SqlFragment } from '../sql/translate.js';
import { decodeColumnValue } from '../sql/values.js';
import type { FindRequest, GroupRequest, ReadKind, WholeDoc } from '../threads/messages.js';
import type { Driver } from '../driver/driver.js';
import { toBytesColumn } from '../schema/bytes-column.js';
import { buildCountFrom, findFewRows, buildRowsFrom, chooseWalk } from './query-plan.js';
import { salvageRows } from './salvage.js';

type ReadOperation = (connection: Connection, table: Table, text: string) => unknown;

const READ_OPERATIONS: Record<Exclude<ReadKind, 'examine'>, [read: ReadOperation, empty: unknown]> = {
  get: [
    (connection, { name }, id) => {
      const [body = null] = connection.prepare(`SELECT body FROM "${name}" WHERE id = ?`).get([id]) ?? [];
      return body === null ? null : restoreBody(body as string);
    },
    null,
  ],
  whole: [(connection, { name, bytes }, id) => readWholeDoc(connection, name, bytes, id), null],
  find: [(connection, table, text) => runFind(connection, table, JSON.parse(text) as FindRequest, 'body'), []],
  ids: [(connection, table, text) => runFind(connection, table, JSON.parse(text) as FindRequest, 'id'), []],
  salvage: [(connection, table, text) => salvageRows(connection, table, JSON.parse(text) as FindRequest), []],
  count: [(connection, table, text) => countDocs(connection, table, JSON.parse(text) as Filter), 0],
  groupCount: [(connection, table, text) => countGroups(connection, table, JSON.parse(text) as GroupRequest), []],
};

/** @throws DamagedText, or the driver's error */
export function readWholeDoc(
  connection: Pick<Driver, 'prepare'>,
  name: string,
  bytes: string | undefined,
  id: string,
): WholeDoc | null {
  const columns = bytes === undefined ? 'body, NULL' : `body, ${toBytesColumn(bytes)}`;
  const row = connection.prepare(`SELECT ${columns} FROM "${name}" WHERE id = ?`).get([id]);
  return row === undefined ? null : [restoreBody(row[0] as string), (row[1] ?? null) as Uint8Array | null];
}

/** @throws TypeError (a programming error) or the driver's error */
export function performRead(
  connection: Connection,
  [kind, name, text]: readonly [kind: Exclude<ReadKind, 'examine'>, name: string, text: string],
): unknown {
  connection.refreshSchema();
  const table = connection.getTable(name);
  const [read, empty] = READ_OPERATIONS[kind];
  return table ? read(connection, table, text) : empty;
}

/** The last parameter is the number of rows. */
export function buildFindSql(
  table: Table,
  { filter, sort }: Pick<FindRequest, 'filter' | 'sort'>,
  stretch: Filter,
  what: 'body' | 'id',
): SqlFragment {
  const { from, columns } = chooseWalk(table, filter, sort);
  const where = buildWhereSql([filter, stretch], columns);
  return {
    text: `SELECT ${what} ${from} WHERE ${where.text} ORDER BY ${buildOrderSql(sort, columns)} LIMIT ?`,
    values: where.values,
  };
}

function runFind(connection: Connection, table: Table, request: FindRequest, what: 'body' | 'id'): string[] {
  // A moving document is not returned twice.
  const found = readSnapshot(connection, () => {
    const few = findFewRows(connection, table, request.filter, request.sort);
    return few === null
      ? findByWalk(connection, table, request, what)
      : findAmongRows(connection, table, request, few, what);
  });
  return what === 'id' ? found : found.map(restoreBody);
}

function findByWalk(connection: Connection, table: Table, request: FindRequest, what: 'body' | 'id'): string[] {
  const { sort, after, rows } = request;
  const found: string[] = [];
  for (const stretch of after === null ? [{}] : toAfterFilters(sort, after)) {
    const left = rows - found.length;
    if (left <= 0) break;
    const { text, values } = buildFindSql(table, request, stretch, what);
    for (const [value] of connection.selectRows(text, [...values, left], left)) found.push(value as string);
  }
  return found;
}

function findAmongRows(
  connection: Connection,
  table: Table,
  { filter, sort, after, rows }: FindRequest,
  few: readonly number[],
  what: 'body' | 'id',
): string[] {
  const from = buildRowsFrom(table.name, few);
  const filters = after === null ? [filter] : [filter, { or: toAfterFilters(sort, after) }];
  const where = buildWhereSql(filters, table.columns);
  const sql = `SELECT "${table.name}".n ${from.text} WHERE ${where.text} ORDER BY ${buildOrderSql(sort, table.columns)} LIMIT ?`;
  const found = connection.prepare(sql).all([...from.values, ...where.values, rows]);
  // Sorting bodies would copy every candidate.
  const one = connection.prepare(`SELECT ${what} FROM "${table.name}" WHERE n = ?`);
  return found.map(([n = null]) => one.get([n])?.[0] as string);
}

function readSnapshot<V>(connection: Connection, read: () => V): V {
  connection.prepare('BEGIN').run([]);
  try {
    return read();
  } finally {
    connection.prepare('COMMIT').run([]);
  }
}

function buildCountSql(connection: Connection, table: Table, filter: Filter, path: string | null): SqlFragment {
  const few = findFewRows(connection, table, filter, null);
  const from =
    few === null ? { text: buildCountFrom(table, filter, path), values: [] } : buildRowsFrom(table.name, few);
  const where = buildWhereSql([filter], table.columns);
  return { text: `${from.text} WHERE ${where.text}`, values: [...from.values, ...where.values] };
}

function countDocs(connection: Connection, table: Table, filter: Filter): number {
  return readSnapshot(connection, () => {
    const { text, values } = buildCountSql(connection, table, filter, null);
    return connection.prepare(`SELECT count(*) ${text}`).get(values)?.[0] as number;
  });
}

function countGroups(connection: Connection, table: Table, request: GroupRequest): { key: Scalar; n: number }[] {
  const path = checkPath(request.path);
  return readSnapshot(connection, () => {
    const { text, values } = buildCountSql(connection, table, request.filter, path);
    const sql = `SELECT ${toSqlExpression(path, table.columns)}, count(*) ${text} GROUP BY 1`;
    const sums = new Map<Scalar, number>();
    for (const [value = null, n] of connection.prepare(sql).all(values)) {
      const key = decodeColumnValue(value);
      sums.set(key, (sums.get(key) ?? 0) + (n as number));
    }
    return Array.from(sums, ([key, n]) => ({ key, n }));
  });
}
