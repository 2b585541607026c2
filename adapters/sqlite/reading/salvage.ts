/** Reads a page that contains damage again, row by row. Ordinary reads have no overhead. */
import { toAfterFilters } from '../../../ports/cursor.js';
import { toTotalSort } from '../../../ports/document.js';
import type { Filter, Scalar } from '../../../ports/store/index.js';
import { restoreBody } from '../stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import { isDamageError } from '../driver/damage.js';
import { getColumnName, toSqlExpression, buildOrderSql, buildWhereSql } from '../sql/translate.js';
import { decodeColumnValue } from '../sql/values.js';
import type { FindRequest } from '../threads/messages.js';

export interface SalvagedRow {
  id: string;
  body: string | null;
  values: Scalar[];
}

/** The fields of an invalid body count as missing. */
export function salvageRows(connection: Connection, table: Table, request: FindRequest): SalvagedRow[] {
  const { filter, sort, after, rows } = request;
  const { columns } = table;
  const indexColumns = table.paths.map((path) => `, ${getColumnName(path)}`).join('');
  const body = `CASE WHEN json_valid(body) THEN body ELSE '{}' END AS body`;
  const filters: Filter[] = after === null ? [filter] : [filter, { or: toAfterFilters(sort, after) }];
  const where = buildWhereSql(filters, columns);
  const keys = toTotalSort(sort).map(([path]) => toSqlExpression(path, columns));
  const found = connection
    .prepare(
      `SELECT ${['n', ...keys].join()} FROM (SELECT n, id${indexColumns}, ${body} FROM "${table.name}")` +
        ` WHERE ${where.text} ORDER BY ${buildOrderSql(sort, columns)} LIMIT ?`,
    )
    .all([...where.values, rows]);
  const one = connection.prepare(`SELECT body FROM "${table.name}" WHERE n = ?`);
  return found.map(([n = null, ...values]) => {
    const scalars = values.map(decodeColumnValue);
    return { id: String(scalars.at(-1)), body: readOrNull(() => String(one.get([n])?.[0])), values: scalars };
  });
}

function readOrNull(read: () => string): string | null {
  try {
    const body = restoreBody(read());
    JSON.parse(body);
    return body;
  } catch (error) {
    if (isDamageError(error) || error instanceof SyntaxError) return null;
    throw error;
  }
}
