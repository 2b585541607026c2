/** The indexes of a table. Their names tell which paths they are over, and how. */
import { PATH, StoreConflict, type IndexSpec } from '../../ports/store.js';
import type { Connection } from './connection.js';
import { violatedColumn } from './driver.js';
import { columnName } from './translate.js';

/** @throws TypeError on a unique index over several fields; StoreConflict when stored documents break it */
export function createIndex(connection: Connection, name: string, index: IndexSpec): void {
  const { fields, unique, sparse = false } = index;
  const [field = ''] = fields;
  if (unique && fields.length !== 1) throw new TypeError('a unique index takes exactly one field');
  const columns = fields.map((path) => (path === 'id' ? 'id' : columnName(path)));
  const label = labelOf(name, index);
  const ordered = [...new Set([...columns, 'id'])].join();
  const present = `WHERE ${columns[0]} IS NOT NULL`;
  try {
    if (unique) create(connection, `UNIQUE INDEX IF NOT EXISTS "${label}" ON "${name}" (${columns.join()}) ${present}`);
    else if (sparse) create(connection, `INDEX IF NOT EXISTS "${label}" ON "${name}" (${ordered}) ${present}`);
    else create(connection, `INDEX IF NOT EXISTS "${label}" ON "${name}" (${ordered})`);
  } catch (error) {
    throw violatedColumn(error) === undefined ? error : new StoreConflict(field);
  }
  // An earlier version declared it the other way.
  if (!unique) connection.driver.exec(`DROP INDEX IF EXISTS "${labelOf(name, { fields, sparse: !sparse })}"`);
  connection.forget(name);
}

const create = (connection: Connection, what: string): void => connection.driver.exec(`CREATE ${what}`);

const kindOf = ({ unique, sparse }: IndexSpec): string => (unique ? 'unique:' : sparse ? 'sparse:' : '');

const labelOf = (name: string, index: IndexSpec): string => `${name}:${kindOf(index)}${index.fields.join(',')}`;

export function hasIndex(connection: Connection, name: string, index: IndexSpec): boolean {
  const known = connection.prepare(`SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?`);
  return known.get([labelOf(name, index)]) !== undefined;
}

/**
 * Drops the indexes that earlier versions declared and this one does not. One that is declared another way stays until its successor is
 * made (`createIndex`), and so does whatever somebody else made in the file.
 */
export function dropUndeclared(connection: Connection, name: string, indexes: readonly IndexSpec[]): void {
  const declared = new Set(
    indexes.flatMap(({ fields, unique }) =>
      unique ? [labelOf(name, { fields, unique })] : [true, false].map((sparse) => labelOf(name, { fields, sparse })),
    ),
  );
  const rows = connection.prepare(`SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?`).all([name]);
  for (const label of rows.map(String)) {
    if (isLabel(name, label) && !declared.has(label)) connection.driver.exec(`DROP INDEX "${label}"`);
  }
  connection.forget(name);
}

/** Whether `labelOf` made it. The index over marked rows (mark.ts) has another kind of name. */
function isLabel(name: string, label: string): boolean {
  const [table, ...rest] = label.split(':');
  const kind = rest.length === 2 ? rest[0] : '';
  const fields = rest.at(-1)?.split(',') ?? [];
  return (
    table === name &&
    ['', 'unique', 'sparse'].includes(kind ?? '') &&
    rest.length <= 2 &&
    fields.every((path) => PATH.test(path))
  );
}
