/** The indexes of a table. Their names tell which paths they are over, and how. */
import { StoreConflict, type IndexSpec } from '../../ports/store.js';
import type { Connection } from './connection.js';
import { violatedColumn } from './driver.js';
import { columnName } from './translate.js';

/** @throws TypeError on a unique index over several fields; StoreConflict when stored documents break it */
export function createIndex(connection: Connection, name: string, { fields, unique, sparse }: IndexSpec): void {
  const [field = ''] = fields;
  if (unique && fields.length !== 1) throw new TypeError('a unique index takes exactly one field');
  const columns = fields.map((path) => (path === 'id' ? 'id' : columnName(path)));
  const label = (kind: string): string => `"${labelOf(name, kind, fields)}"`;
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

const labelOf = (name: string, kind: string, fields: readonly string[]): string => `${name}:${kind}${fields.join(',')}`;

export function hasIndex(connection: Connection, name: string, { fields, unique, sparse }: IndexSpec): boolean {
  const kind = unique ? 'unique:' : sparse ? 'sparse:' : '';
  const known = connection.prepare(`SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?`);
  return known.get([labelOf(name, kind, fields)]) !== undefined;
}
