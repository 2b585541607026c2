/** The indexes of a table. */
import { StoreConflict, type IndexSpec } from '../../../ports/store.js';
import type { Connection } from '../connection/connection.js';
import { violatedColumn } from '../driver/driver.js';
import { declaredBy, leavesUnindexedOut, labelOf, neededBy, shapesOf, type IndexShape } from '../schema/labels.js';
import { UNINDEXED } from '../schema/mark.js';
import { columnName } from '../sql/translate.js';

/**
 * An index without the unindexed rows ends in the column of the mark, which is empty in all its entries: otherwise
 * SQLite would look into each row before it counts that row.
 * @throws TypeError on a unique index over several fields; StoreConflict when stored documents break it
 */
export function createIndex(connection: Connection, name: string, index: IndexShape): void {
  const { fields, unique } = index;
  const [field = ''] = fields;
  if (unique && fields.length !== 1) throw new TypeError('a unique index takes exactly one field');
  const columns = fields.map((path) => (path === 'id' ? 'id' : columnName(path)));
  const label = labelOf(name, index);
  const ordered = [...new Set([...columns, 'id'])].join();
  const needed = neededBy(index);
  const present = needed === null ? '' : `WHERE ${columnName(needed)} IS NOT NULL`;
  const over = `INDEX IF NOT EXISTS "${label}" ON "${name}"`;
  try {
    if (unique) create(connection, `UNIQUE ${over} (${columns.join()}) ${present}`);
    else if (leavesUnindexedOut(index))
      create(connection, `${over} (${ordered},${UNINDEXED}) WHERE ${UNINDEXED} IS NULL`);
    else create(connection, `${over} (${ordered}) ${present}`);
  } catch (error) {
    throw violatedColumn(error) === undefined ? error : new StoreConflict(field);
  }
  // An earlier version declared this index another way.
  for (const other of unique ? [] : shapesOf(fields).map((shape) => labelOf(name, shape)))
    if (other !== label) connection.driver.exec(`DROP INDEX IF EXISTS "${other}"`);
  connection.forget(name);
}

const create = (connection: Connection, what: string): void => connection.driver.exec(`CREATE ${what}`);

export function hasIndex(connection: Connection, name: string, index: IndexShape): boolean {
  const known = connection.prepare(`SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?`);
  return known.get([labelOf(name, index)]) !== undefined;
}

/**
 * Drops the indexes that earlier versions declared and this one does not. One that is declared another way stays
 * until its successor is made (`createIndex`), and so does whatever somebody else made in the file.
 */
export function dropUndeclared(connection: Connection, name: string, indexes: readonly IndexSpec[]): void {
  const declared = new Set(
    indexes.flatMap(({ fields, unique }) =>
      (unique ? [{ fields, unique }] : shapesOf(fields)).map((shape) => labelOf(name, shape)),
    ),
  );
  const rows = connection.prepare(`SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?`).all([name]);
  for (const label of rows.map(String)) {
    if (declaredBy(name, label) !== null && !declared.has(label)) connection.driver.exec(`DROP INDEX "${label}"`);
  }
  connection.forget(name);
}
