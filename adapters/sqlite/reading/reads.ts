import { toAfterFilters } from '../../../ports/cursor.js';
import { checkPath } from '../../../ports/document.js';
import type { Filter, Scalar } from '../../../ports/store.js';
import { wholeBody } from '../body/stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import { expression, orderSql, whereSql, type Sql } from '../sql/translate.js';
import { scalarOf } from '../sql/values.js';
import type { FindRequest, GroupRequest, ReadKind, StoredWhole } from '../threads/messages.js';
import type { Driver } from '../driver/driver.js';
import { bytesColumn } from '../schema/bytes-column.js';
import { countedFrom, fewRows, fromRows, chooseWalk } from './few.js';
import { salvage } from './salvage.js';

type Read = (connection: Connection, table: Table, text: string) => unknown;

const READS: Record<Exclude<ReadKind, 'examine'>, [read: Read, empty: unknown]> = {
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

/**
 * Returns a document's body and bytes from one snapshot, or null.
 * @throws DamagedText, or the driver's error
 */
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

/**
 * Returns bodies, ids, a number or groups.
 * @throws TypeError (a programming error) or the driver's error
 */
export function performRead(
  connection: Connection,
  [kind, name, text]: readonly [kind: Exclude<ReadKind, 'examine'>, name: string, text: string],
): unknown {
  connection.refresh();
  const table = connection.table(name);
  const [read, empty] = READS[kind];
  return table ? read(connection, table, text) : empty;
}

/**
 * Returns the statement for one stretch of a find along its sort index. The last parameter is the
 * number of rows.
 */
export function findSql(
  table: Table,
  { filter, sort }: Pick<FindRequest, 'filter' | 'sort'>,
  stretch: Filter,
  what: 'body' | 'id',
): Sql {
  const { from, columns } = chooseWalk(table, filter, sort);
  const where = whereSql([filter, stretch], columns);
  return {
    text: `SELECT ${what} ${from} WHERE ${where.text} ORDER BY ${orderSql(sort, columns)} LIMIT ?`,
    values: where.values,
  };
}

function find(connection: Connection, table: Table, request: FindRequest, what: 'body' | 'id'): string[] {
  // One snapshot for all statements, so that a moving document is not returned twice.
  const found = snapshot(connection, () => {
    const few = fewRows(connection, table, request.filter, request.sort);
    return few === null ? walk(connection, table, request, what) : findAmong(connection, table, request, few, what);
  });
  return what === 'id' ? found : found.map(wholeBody);
}

function walk(connection: Connection, table: Table, request: FindRequest, what: 'body' | 'id'): string[] {
  const { sort, after, rows } = request;
  const found: string[] = [];
  for (const stretch of after === null ? [{}] : toAfterFilters(sort, after)) {
    const left = rows - found.length;
    if (left <= 0) break;
    const { text, values } = findSql(table, request, stretch, what);
    for (const [value] of connection.rows(text, [...values, left], left)) found.push(value as string);
  }
  return found;
}

function findAmong(
  connection: Connection,
  table: Table,
  { filter, sort, after, rows }: FindRequest,
  few: readonly number[],
  what: 'body' | 'id',
): string[] {
  const from = fromRows(table.name, few);
  const filters = after === null ? [filter] : [filter, { or: toAfterFilters(sort, after) }];
  const where = whereSql(filters, table.columns);
  const sql = `SELECT "${table.name}".n ${from.text} WHERE ${where.text} ORDER BY ${orderSql(sort, table.columns)} LIMIT ?`;
  const found = connection.prepare(sql).all([...from.values, ...where.values, rows]);
  // Bodies are read for this page only: sorting them would copy every candidate.
  const one = connection.prepare(`SELECT ${what} FROM "${table.name}" WHERE n = ?`);
  return found.map(([n = null]) => one.get([n])?.[0] as string);
}

function snapshot<V>(connection: Connection, read: () => V): V {
  connection.prepare('BEGIN').run([]);
  try {
    return read();
  } finally {
    connection.prepare('COMMIT').run([]);
  }
}

/**
 * Returns `FROM … WHERE …` of a count.
 * @param path to group by; null counts all
 */
function counted(connection: Connection, table: Table, filter: Filter, path: string | null): Sql {
  const few = fewRows(connection, table, filter, null);
  const from = few === null ? { text: countedFrom(table, filter, path), values: [] } : fromRows(table.name, few);
  const where = whereSql([filter], table.columns);
  return { text: `${from.text} WHERE ${where.text}`, values: [...from.values, ...where.values] };
}

function count(connection: Connection, table: Table, filter: Filter): number {
  return snapshot(connection, () => {
    const { text, values } = counted(connection, table, filter, null);
    return connection.prepare(`SELECT count(*) ${text}`).get(values)?.[0] as number;
  });
}

function groupCount(connection: Connection, table: Table, request: GroupRequest): { key: Scalar; n: number }[] {
  const path = checkPath(request.path);
  return snapshot(connection, () => {
    const { text, values } = counted(connection, table, request.filter, path);
    const sql = `SELECT ${expression(path, table.columns)}, count(*) ${text} GROUP BY 1`;
    const sums = new Map<Scalar, number>();
    for (const [value = null, n] of connection.prepare(sql).all(values)) {
      const key = scalarOf(value);
      sums.set(key, (sums.get(key) ?? 0) + (n as number));
    }
    return Array.from(sums, ([key, n]) => ({ key, n }));
  });
}
