/**
 * Columns and indexes that a large table gets while it is in use: the columns are filled a few documents at a time,
 * then each index is made in a transaction of its own. SQLite cannot make an index in steps: other writes wait for that
 * transaction, readers do not. The progress stands in the file, written in the same transaction as the work, so a
 * killed process goes on where it was. Until the end filters and sorts read the documents.
 */
import type { Connection } from '../connection/connection.js';
import type { Value } from '../driver/driver.js';
import { indexedExpression } from '../sql/indexed-as.js';
import type { IndexedAs } from '../../../ports/store/tuning.js';
import { createIndex } from './indexes.js';
import { filledTo, BUILDS, buildOf, type IndexBuild } from '../schema/index-builds.js';
import { columnName } from '../sql/translate.js';

/** Documents that one transaction fills. */
const AT_ONCE = 200;

/** `SET …` of columns from the bodies. */
export const assignments = (paths: readonly string[], alias: IndexedAs | null): string =>
  paths.map((path) => `${columnName(path)} = ${indexedExpression(path, alias)}`).join();

/** Within a transaction. Work that is under way begins anew when a column joins it. */
export function scheduleBuild(connection: Connection, name: string, more: IndexBuild): void {
  connection.driver.exec(
    `CREATE TABLE IF NOT EXISTS ${BUILDS} (collection TEXT PRIMARY KEY, what TEXT NOT NULL, filled_to TEXT NOT NULL)`,
  );
  const known = buildOf(connection, name);
  const indexes = new Map([...(known?.indexes ?? []), ...more.indexes].map((index) => [JSON.stringify(index), index]));
  const paths = [...(known?.paths ?? []), ...more.paths];
  const from = more.paths.length > 0 ? '' : filledTo(connection, name);
  connection
    .prepare(`INSERT OR REPLACE INTO ${BUILDS} (collection, what, filled_to) VALUES (?, ?, ?)`)
    .run([name, JSON.stringify({ paths, indexes: [...indexes.values()] }), from]);
  connection.backlog.add(name);
  connection.forget(name);
}

/** One step, within a transaction. True while there is more to do. */
export function buildSome(connection: Connection, name: string): boolean {
  const later = buildOf(connection, name);
  if (later === null) return false;
  if (later.paths.length > 0 && fillSome(connection, name, later.paths)) return true;
  // Columns are read from the first index on: its change of the schema tells every connection.
  const [index, ...indexes] = later.indexes;
  if (index !== undefined)
    createIndex(connection, name, { ...index, indexedRowsOnly: connection.table(name)?.insertsLater === true });
  if (indexes.length === 0) connection.prepare(`DELETE FROM ${BUILDS} WHERE collection = ?`).run([name]);
  else {
    const what = JSON.stringify({ paths: [], indexes });
    connection.prepare(`UPDATE ${BUILDS} SET what = ? WHERE collection = ?`).run([what, name]);
  }
  connection.forget(name);
  return indexes.length > 0;
}

/** True when it has filled documents; it passes over damaged ones. */
function fillSome(connection: Connection, name: string, paths: readonly string[]): boolean {
  const from = filledTo(connection, name);
  const range = `SELECT id FROM "${name}" WHERE id > ? AND id < x'' ORDER BY id LIMIT ?`;
  const last = connection.prepare(`SELECT max(id) FROM (${range})`).get([from, AT_ONCE])?.[0] as Value;
  if (last === null) return false;
  connection
    .prepare(
      `UPDATE "${name}" SET ${assignments(paths, connection.table(name)?.alias ?? null)} WHERE id > ? AND id <= ? AND json_valid(body)`,
    )
    .run([from, last]);
  connection.prepare(`UPDATE ${BUILDS} SET filled_to = ? WHERE collection = ?`).run([last, name]);
  return true;
}
