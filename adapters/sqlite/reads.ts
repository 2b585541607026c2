/** The read operations on one connection: what may scan runs here, on a worker, never on the main thread. */
import { afterStretches } from '../../ports/cursor.js';
import { checkPath } from '../../ports/document.js';
import type { Filter, Scalar } from '../../ports/store.js';
import type { Connection } from './connection.js';
import type { FindRequest, GroupRequest, ReadKind, ReadRequest } from './messages.js';
import { columnName, orderSql, whereSql, type Columns } from './translate.js';
import { bodyExpression, scalarOf } from './values.js';

type Read = (connection: Connection, name: string, columns: Columns, text: string) => unknown;

/** What each read answers for a table that exists, and for a collection without one. */
const READS: Record<ReadKind, [read: Read, empty: unknown]> = {
  get: [
    (connection, name, _, id) => connection.prepare(`SELECT body FROM "${name}" WHERE id = ?`).get([id])?.[0] ?? null,
    null,
  ],
  find: [
    (connection, name, columns, text) => find(connection, name, columns, JSON.parse(text) as FindRequest, 'body'),
    [],
  ],
  ids: [
    (connection, name, columns, text) => find(connection, name, columns, JSON.parse(text) as FindRequest, 'id'),
    [],
  ],
  count: [(connection, name, columns, text) => count(connection, name, columns, JSON.parse(text) as Filter), 0],
  groupCount: [
    (connection, name, columns, text) => groupCount(connection, name, columns, JSON.parse(text) as GroupRequest),
    [],
  ],
};

/** Answers with bodies or ids, a number, or groups. @throws TypeError (a programming error) or the driver's error */
export function performRead(connection: Connection, [kind, name, text]: ReadRequest): unknown {
  connection.refresh();
  const columns = connection.table(name)?.columns;
  const [read, empty] = READS[kind];
  return columns ? read(connection, name, columns, text) : empty;
}

/** The statement of one stretch of a find. Its last parameter is the number of rows. */
export function findSql(name: string, columns: Columns, request: FindRequest, stretch: Filter, what: 'body' | 'id') {
  const where = whereSql([request.filter, stretch], columns);
  const order = orderSql(request.sort, columns);
  return { text: `SELECT ${what} FROM "${name}" WHERE ${where.text} ORDER BY ${order} LIMIT ?`, values: where.values };
}

function find(
  connection: Connection,
  name: string,
  columns: Columns,
  request: FindRequest,
  what: 'body' | 'id',
): unknown[] {
  const read = (stretch: Filter, rows: number): unknown[] => {
    const sql = findSql(name, columns, request, stretch, what);
    return connection
      .prepare(sql.text)
      .all([...sql.values, rows])
      .map(([value]) => value);
  };
  if (request.after === null) return read({}, request.rows);
  const found: unknown[] = [];
  // One snapshot for all stretches: a document that moves meanwhile is not seen twice.
  connection.prepare('BEGIN').run([]);
  try {
    for (const stretch of afterStretches(request.sort, request.after)) {
      if (found.length >= request.rows) break;
      found.push(...read(stretch, request.rows - found.length));
    }
    return found;
  } finally {
    connection.prepare('COMMIT').run([]);
  }
}

function count(connection: Connection, name: string, columns: Columns, filter: Filter): number {
  const where = whereSql([filter], columns);
  return connection.prepare(`SELECT count(*) FROM "${name}" WHERE ${where.text}`).get(where.values)?.[0] as number;
}

function groupCount(
  connection: Connection,
  name: string,
  columns: Columns,
  request: GroupRequest,
): { key: Scalar; n: number }[] {
  const path = checkPath(request.path);
  const where = whereSql([request.filter], columns);
  const key = path === 'id' ? 'id' : columns.has(path) ? columnName(path) : bodyExpression(path);
  const sql = `SELECT ${key}, count(*) FROM "${name}" WHERE ${where.text} GROUP BY 1`;
  const rows = connection.prepare(sql).all(where.values);
  return rows.map(([value = null, n]) => ({ key: scalarOf(value), n: n as number }));
}
