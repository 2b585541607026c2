/**
 * Reads a page that contains damage again, row by row. Returns the readable documents and the ids
 * of the others. Ordinary reads have no overhead.
 */
import { toAfterFilters } from '../../../ports/cursor.js';
import { toTotalSort } from '../../../ports/document.js';
import type { Filter, Scalar } from '../../../ports/store.js';
import { wholeBody } from '../body/stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import { isDamage } from '../driver/damage.js';
import { columnName, expression, orderSql, whereSql } from '../sql/translate.js';
import { scalarOf } from '../sql/values.js';
import type { FindRequest } from '../threads/messages.js';

export interface SalvagedRow {
  id: string;
  body: string | null;
  values: Scalar[];
}

/** To conditions without an index, the fields of an invalid body count as missing. */
export function salvage(connection: Connection, table: Table, request: FindRequest): SalvagedRow[] {
  const { filter, sort, after, rows } = request;
  const { columns } = table;
  const kept = table.paths.map((path) => `, ${columnName(path)}`).join('');
  const body = `CASE WHEN json_valid(body) THEN body ELSE '{}' END AS body`;
  const filters: Filter[] = after === null ? [filter] : [filter, { or: toAfterFilters(sort, after) }];
  const where = whereSql(filters, columns);
  const keys = toTotalSort(sort).map(([path]) => expression(path, columns));
  const found = connection
    .prepare(
      `SELECT ${['n', ...keys].join()} FROM (SELECT n, id${kept}, ${body} FROM "${table.name}")` +
        ` WHERE ${where.text} ORDER BY ${orderSql(sort, columns)} LIMIT ?`,
    )
    .all([...where.values, rows]);
  const one = connection.prepare(`SELECT body FROM "${table.name}" WHERE n = ?`);
  return found.map(([n = null, ...values]) => {
    const scalars = values.map(scalarOf);
    return { id: String(scalars.at(-1)), body: readable(() => String(one.get([n])?.[0])), values: scalars };
  });
}

function readable(read: () => string): string | null {
  try {
    const body = wholeBody(read());
    JSON.parse(body);
    return body;
  } catch (error) {
    if (isDamage(error) || error instanceof SyntaxError) return null;
    throw error;
  }
}
