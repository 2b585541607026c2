/**
 * Stores the declaration of each collection in the table `~declared`, for all processes. Table
 * `<name>` holds the documents; `<name>:values` and `<name>:search` are its side tables.
 */
import type { CollectionSpec } from '../../../ports/store.js';
import type { Driver } from '../driver/driver.js';

export type Statements = Pick<Driver, 'prepare'>;

export const DECLARED = '"~declared"';

export type Declared = Required<Omit<CollectionSpec, 'name' | 'bytes'>>;

/** Normalizes the declaration, so that equal declarations are equal texts. */
export const declaredOf = ({ indexes, values = [], search = [], compressed = [] }: CollectionSpec): Declared => ({
  indexes: indexes.map(({ fields, unique = false }) => ({ fields, unique })),
  values,
  search,
  compressed,
});

const hasTable = (connection: Statements): boolean =>
  connection.prepare(`SELECT 1 FROM sqlite_master WHERE name = '~declared'`).get([]) !== undefined;

export function declaredIn(connection: Statements, name: string): Declared {
  const [spec] = hasTable(connection)
    ? (connection.prepare(`SELECT spec FROM ${DECLARED} WHERE collection = ?`).get([name]) ?? [])
    : [];
  return spec === undefined ? declaredOf({ name, indexes: [] }) : (JSON.parse(spec as string) as Declared);
}

/** Call within a transaction. */
export function declare(connection: Driver, name: string, declared: Declared): void {
  connection.exec(`CREATE TABLE IF NOT EXISTS ${DECLARED} (collection TEXT PRIMARY KEY, spec TEXT NOT NULL)`);
  connection
    .prepare(`INSERT OR REPLACE INTO ${DECLARED} (collection, spec) VALUES (?, ?)`)
    .run([name, JSON.stringify(declared)]);
}
