/**
 * Tables and indexes. A collection is `(id, body, "$.path" …)`: one column per indexed path, kept by the writer (writes.ts)
 * with the value of values.ts. Columns are only ever added.
 */
import { checkPath } from '../../ports/document.js';
import { StoreConflict, type CollectionSpec, type IndexSpec } from '../../ports/store.js';
import type { Connection, Table } from './connection.js';
import { violatedColumn } from './driver.js';
import { columnName } from './translate.js';
import { ensureLookups } from './lookups.js';
import { MARK, markLabel } from './mark.js';
import { ALL, settle } from './unsettled.js';
import { bodyExpression } from './values.js';

/** Typeless columns: SQLite converts nothing when it stores or compares. */
export function createTable(connection: Connection, name: string): void {
  connection.driver.exec(`CREATE TABLE IF NOT EXISTS "${name}" (id NOT NULL PRIMARY KEY, body TEXT NOT NULL)`);
  connection.forget(name);
}

/** Within a transaction. @throws StoreConflict when stored documents break a new unique index */
export function ensureCollection(
  connection: Connection,
  { name, indexes, deferred = [], lookups = [] }: CollectionSpec,
): void {
  createTable(connection, name);
  addColumns(connection, name, [...new Set(indexes.flatMap((index) => index.fields))]);
  for (const index of indexes) createIndex(connection, name, index);
  defer(connection, name, deferred);
  ensureLookups(connection, name, lookups);
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

/** The columns that are missing, filled by one pass over the documents. */
function addColumns(connection: Connection, name: string, paths: readonly string[]): void {
  const known = connection.table(name)?.columns;
  const missing = paths.filter((path) => path !== 'id' && !known?.has(checkPath(path)));
  if (missing.length === 0) return;
  for (const path of missing) connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${columnName(path)}`);
  const values = missing.map((path) => `${columnName(path)} = ${bodyExpression(path)}`);
  connection.driver.exec(`UPDATE "${name}" SET ${values.join()}`);
  connection.forget(name);
}

function createIndex(connection: Connection, name: string, { fields, unique, sparse }: IndexSpec): void {
  const [field = ''] = fields;
  if (unique && fields.length !== 1) throw new TypeError('a unique index takes exactly one field');
  const columns = fields.map((path) => (path === 'id' ? 'id' : columnName(path)));
  const label = (kind: string): string => `"${name}:${kind}${fields.join(',')}"`;
  const ordered = [...new Set([...columns, 'id'])].join();
  const present = `WHERE ${columns[0]} IS NOT NULL`;
  try {
    if (unique)
      create(connection, `UNIQUE INDEX IF NOT EXISTS ${label('unique:')} ON "${name}" (${columns.join()}) ${present}`);
    else if (sparse) create(connection, `INDEX IF NOT EXISTS ${label('sparse:')} ON "${name}" (${ordered}) ${present}`);
    else create(connection, `INDEX IF NOT EXISTS ${label('')} ON "${name}" (${ordered})`);
  } catch (error) {
    throw violatedColumn(error) === undefined ? error : new StoreConflict(field);
  }
  // An earlier version declared it the other way.
  if (!unique) connection.driver.exec(`DROP INDEX IF EXISTS ${label(sparse ? '' : 'sparse:')}`);
  connection.forget(name);
}

const create = (connection: Connection, what: string): void => connection.driver.exec(`CREATE ${what}`);
