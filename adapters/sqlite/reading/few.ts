/** Short counts on the main thread: a few entries of an index, which cost less than the way to a reading thread. */
import type { Filter } from '../../../ports/store.js';
import type { Connection } from '../connection/connection.js';
import { whereSql } from '../sql/translate.js';

/** Null: there are more than `most`, or the index is behind, and a reading thread counts. @throws the driver's error */
export function countFew(connection: Connection, name: string, filter: Filter, most: number): number | null {
  connection.refresh();
  const table = connection.table(name);
  if (table === null) return 0;
  if (table.behind.length > 0) return null;
  const { text, values } = whereSql([filter], table.columns);
  const sql = `SELECT count(*) FROM (SELECT 1 FROM "${name}" WHERE ${text} LIMIT ?)`;
  const n = connection.prepare(sql).get([...values, most + 1])?.[0] as number;
  return n > most ? null : n;
}
