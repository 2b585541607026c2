/**
 * Which fields of a collection are compressed (../body/stored-body.ts), in a table of its own, so that every process
 * knows it: `~packed`.
 */
import type { Driver } from '../driver/driver.js';

/** The part of a connection that this needs. */
type Statements = Pick<Driver, 'prepare'>;

const COMPRESSED = '"~packed"';

/** Undefined: the collection has no compressed fields. */
export function compressedFields(connection: Statements, name: string): readonly string[] | undefined {
  const has = connection.prepare(`SELECT 1 FROM sqlite_master WHERE name = '~packed'`).get([]) !== undefined;
  const [fields] = has
    ? (connection.prepare(`SELECT fields FROM ${COMPRESSED} WHERE collection = ?`).get([name]) ?? [])
    : [];
  return fields === undefined ? undefined : (JSON.parse(fields as string) as string[]);
}

/** Within a transaction. Documents that are there already stay as they are until they are written. */
export function declareCompressed(connection: Driver, name: string, fields: readonly string[]): void {
  const known = compressedFields(connection, name) ?? [];
  if (JSON.stringify(known) === JSON.stringify(fields)) return;
  connection.exec(`CREATE TABLE IF NOT EXISTS ${COMPRESSED} (collection TEXT PRIMARY KEY, fields TEXT NOT NULL)`);
  connection.prepare(`DELETE FROM ${COMPRESSED} WHERE collection = ?`).run([name]);
  if (fields.length > 0)
    connection
      .prepare(`INSERT INTO ${COMPRESSED} (collection, fields) VALUES (?, ?)`)
      .run([name, JSON.stringify(fields)]);
}
