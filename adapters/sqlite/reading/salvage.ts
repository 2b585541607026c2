/**
 * A page of which something is damaged, read again row by row: what can be read, and the ids of what cannot. An
 * ordinary read pays nothing for it.
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
  /** Null: it is damaged. */
  body: string | null;
  /** By which the next page begins, as a cursor has them. */
  values: Scalar[];
}

/** Conditions that no index holds see nothing of a body that is no JSON: its fields count as missing. */
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
