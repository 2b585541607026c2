/** Table `<name>` holds the documents; `<name>:values` and `<name>:search` are its side tables. */
import type { CollectionSpec } from '../../../ports/store/index.js';
import type { Driver } from '../driver/driver.js';

export type StatementSource = Pick<Driver, 'prepare'>;

export const DECLARATIONS_TABLE = '"~declared"';

export type CollectionDeclaration = Required<Omit<CollectionSpec, 'name' | 'bytes'>>;

/** Normalizes the declaration, so that equal declarations are equal texts. */
export const toDeclaration = ({
  indexes,
  values = [],
  search = [],
  compressed = [],
}: CollectionSpec): CollectionDeclaration => ({
  indexes: indexes.map(({ fields, unique = false }) => ({ fields, unique })),
  values,
  search,
  compressed,
});

const hasDeclarationsTable = (connection: StatementSource): boolean =>
  connection.prepare(`SELECT 1 FROM sqlite_master WHERE name = '~declared'`).get([]) !== undefined;

export function readDeclaration(connection: StatementSource, name: string): CollectionDeclaration {
  const [spec] = hasDeclarationsTable(connection)
    ? (connection.prepare(`SELECT spec FROM ${DECLARATIONS_TABLE} WHERE collection = ?`).get([name]) ?? [])
    : [];
  return spec === undefined
    ? toDeclaration({ name, indexes: [] })
    : (JSON.parse(spec as string) as CollectionDeclaration);
}

export function saveDeclaration(connection: Driver, name: string, declared: CollectionDeclaration): void {
  connection.exec(`CREATE TABLE IF NOT EXISTS ${DECLARATIONS_TABLE} (collection TEXT PRIMARY KEY, spec TEXT NOT NULL)`);
  connection
    .prepare(`INSERT OR REPLACE INTO ${DECLARATIONS_TABLE} (collection, spec) VALUES (?, ?)`)
    .run([name, JSON.stringify(declared)]);
}
