/**
 * Tables and indexes. A collection is `(id, body, "$.path" …)`: one column per indexed path, kept by the writer (writes.ts)
 * with the value of values.ts. Columns are only ever added.
 */
import { checkPath } from '../../ports/document.js';
import { StoreConflict, type CollectionSpec, type IndexSpec } from '../../ports/store.js';
import type { Connection } from './connection.js';
import { violatedColumn } from './driver.js';
import { columnName } from './translate.js';
import { bodyExpression } from './values.js';

/** Typeless columns: SQLite converts nothing when it stores or compares. */
export function createTable(connection: Connection, name: string): void {
  connection.driver.exec(`CREATE TABLE IF NOT EXISTS "${name}" (id NOT NULL PRIMARY KEY, body TEXT NOT NULL)`);
  connection.forget(name);
}

/** Within a transaction. @throws StoreConflict when stored documents break a new unique index */
export function ensureCollection(connection: Connection, { name, indexes }: CollectionSpec): void {
  createTable(connection, name);
  addColumns(connection, name, [...new Set(indexes.flatMap((index) => index.fields))]);
  for (const index of indexes) createIndex(connection, name, index);
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

function createIndex(connection: Connection, name: string, { fields, unique }: IndexSpec): void {
  const [field = ''] = fields;
  if (unique && fields.length !== 1) throw new TypeError('a unique index takes exactly one field');
  const columns = fields.map((path) => (path === 'id' ? 'id' : columnName(path)));
  const label = `"${name}:${unique ? 'unique:' : ''}${fields.join(',')}"`;
  try {
    connection.driver.exec(
      unique
        ? `CREATE UNIQUE INDEX IF NOT EXISTS ${label} ON "${name}" (${columns.join()}) WHERE ${columns.join()} IS NOT NULL`
        : `CREATE INDEX IF NOT EXISTS ${label} ON "${name}" (${[...new Set([...columns, 'id'])].join()})`,
    );
  } catch (error) {
    throw violatedColumn(error) === undefined ? error : new StoreConflict(field);
  }
  connection.forget(name);
}
