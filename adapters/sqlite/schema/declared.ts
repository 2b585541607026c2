/**
 * What is declared of each collection, in a table of the file, so that every process knows it: `~declared`. A table
 * `<name>` holds the documents, `<name>:values` and `<name>:search` what finds them (side-tables.ts).
 */
import type { CollectionSpec } from '../../../ports/store.js';
import type { Driver } from '../driver/driver.js';

/** A connection, as far as this needs one. */
export type Statements = Pick<Driver, 'prepare'>;

export const DECLARED = '"~declared"';

export type Declared = Required<Omit<CollectionSpec, 'name' | 'bytes'>>;

/** In one form, so that equal declarations are equal texts. */
export const declaredOf = ({ indexes, values = [], search = [], compressed = [] }: CollectionSpec): Declared => ({
  indexes: indexes.map(({ fields, unique = false }) => ({ fields, unique })),
  values,
  search,
  compressed,
});

const hasTable = (connection: Statements): boolean =>
  connection.prepare(`SELECT 1 FROM sqlite_master WHERE name = '~declared'`).get([]) !== undefined;

/** Nothing, of a collection that nobody has declared. */
export function declaredIn(connection: Statements, name: string): Declared {
  const [spec] = hasTable(connection)
    ? (connection.prepare(`SELECT spec FROM ${DECLARED} WHERE collection = ?`).get([name]) ?? [])
    : [];
  return spec === undefined ? declaredOf({ name, indexes: [] }) : (JSON.parse(spec as string) as Declared);
}

/** Within a transaction. */
export function declare(connection: Driver, name: string, declared: Declared): void {
  connection.exec(`CREATE TABLE IF NOT EXISTS ${DECLARED} (collection TEXT PRIMARY KEY, spec TEXT NOT NULL)`);
  connection
    .prepare(`INSERT OR REPLACE INTO ${DECLARED} (collection, spec) VALUES (?, ?)`)
    .run([name, JSON.stringify(declared)]);
}
