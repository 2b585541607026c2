/**
 * Tables and indexes. A collection is `(id, body, "$.path" …)`: one column per indexed path, kept by the writer (writes.ts)
 * with the value of values.ts. Columns are only ever added.
 */
import { checkPath } from '../../ports/document.js';
import type { CollectionSpec, IndexSpec } from '../../ports/store.js';
import type { Connection, Table } from './connection.js';
import { createIndex, dropUndeclared, hasIndex } from './indexes.js';
import { assignments, makeLater } from './later.js';
import { columnName } from './translate.js';
import { ensureLookups } from './lookups/lookups.js';
import { MARK, markLabel } from './mark.js';
import { declarePacked } from './packing/fields.js';
import { ALL, settle } from './unsettled.js';

/** Typeless columns: SQLite converts nothing when it stores or compares. */
export function createTable(connection: Connection, name: string): void {
  connection.driver.exec(`CREATE TABLE IF NOT EXISTS "${name}" (id NOT NULL PRIMARY KEY, body TEXT NOT NULL)`);
  connection.forget(name);
}

/** Within a transaction. @throws StoreConflict when stored documents break a new unique index */
export function ensureCollection(
  connection: Connection,
  { name, indexes, deferred = [], lookups = [], packed = [] }: CollectionSpec,
): void {
  checkUnindexed(packed, [...indexes.flatMap(({ fields }) => fields), ...lookups.map(({ path }) => path)]);
  createTable(connection, name);
  const missing = indexes.filter((index) => !hasIndex(connection, name, index));
  const now = isLarge(connection, name) ? missing.filter((index) => isNeeded(index, deferred)) : missing;
  addColumns(connection, name, pathsOf(now), true);
  for (const index of now) createIndex(connection, name, index);
  const later = missing.filter((index) => !now.includes(index));
  const added = addColumns(connection, name, pathsOf(later), false);
  if (later.length > 0) makeLater(connection, name, { paths: added, indexes: later });
  defer(connection, name, deferred);
  dropUndeclared(connection, name, indexes);
  ensureLookups(connection, name, lookups);
  declarePacked(connection.driver, name, packed);
  connection.forget(name);
}

/** @throws TypeError when a packed field is the id, or there is an index or a look-up over it */
function checkUnindexed(packed: readonly string[], paths: readonly string[]): void {
  for (const field of packed) {
    if (checkPath(field) === 'id' || paths.some((path) => path === field || path.startsWith(`${field}.`)))
      throw new TypeError(`${field} is indexed and cannot be packed`);
  }
}

/** @throws TypeError when a deferred path has no index, or a unique one */
function defer(connection: Connection, name: string, paths: readonly string[]): void {
  const { columns, unique, deferred } = connection.table(name) as Table;
  const wanted = markLabel(name, paths);
  if (paths.length > 0 ? markLabel(name, deferred) === wanted : deferred.length === 0) return;
  for (const path of paths) {
    if (!columns.has(path) || unique.includes(path)) throw new TypeError(`${path} has no index that could be deferred`);
  }
  if (deferred.length > 0) {
    settle(connection, name, ALL);
    connection.driver.exec(`DROP INDEX "${markLabel(name, deferred)}"`);
  }
  if (paths.length > 0) {
    addMark(connection, name);
    connection.driver.exec(`CREATE INDEX "${wanted}" ON "${name}" (${MARK}) WHERE ${MARK} IS NOT NULL`);
  }
  connection.forget(name);
}

function addMark(connection: Connection, name: string): void {
  const columns = connection.prepare('SELECT name FROM pragma_table_info(?)').all([name]);
  if (!columns.some(([column]) => `"${String(column)}"` === MARK))
    connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${MARK}`);
}

const pathsOf = (indexes: readonly IndexSpec[]): string[] => [...new Set(indexes.flatMap((index) => index.fields))];

/** So many documents that a pass over all would hold up other writes. */
const LARGE = 10_000;

const isLarge = (connection: Connection, name: string): boolean =>
  connection.prepare(`SELECT 1 FROM "${name}" LIMIT 1 OFFSET ?`).get([LARGE]) !== undefined;

/** Nothing may be written without it. */
const isNeeded = ({ fields, unique }: IndexSpec, deferred: readonly string[]): boolean =>
  unique === true || fields.some((path) => deferred.includes(path));

/** The columns that are missing. @param filled by one pass over the documents */
function addColumns(connection: Connection, name: string, paths: readonly string[], filled: boolean): string[] {
  const known = new Set(connection.table(name)?.written);
  const missing = paths.filter((path) => path !== 'id' && !known.has(checkPath(path)));
  if (missing.length === 0) return [];
  for (const path of missing) connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${columnName(path)}`);
  if (filled) connection.driver.exec(`UPDATE "${name}" SET ${assignments(missing)}`);
  connection.forget(name);
  return missing;
}
