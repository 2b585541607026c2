import type { CollectionSpec, IndexSpec } from '../../../ports/store.js';
import { bytesColumn, bytesFieldIn } from '../schema/bytes-column.js';
import { declaredIn, type Statements } from '../schema/declared.js';
import { columnName, type Columns } from '../sql/translate.js';

export interface TableIndex {
  label: string;
  /** Paths in order; `id` ends every non-unique index. */
  paths: readonly string[];
}

export interface Table extends Required<Pick<CollectionSpec, 'values' | 'search'>> {
  name: string;
  paths: readonly string[];
  columns: Columns;
  unique: readonly string[];
  indexes: readonly TableIndex[];
  /**
   * Parameters: id, body, bytes if the collection has a bytes field, and the columns of `paths`.
   */
  insertSql: string;
  compressed: readonly string[] | undefined;
  bytes: string | undefined;
}

export const labelOf = (name: string, { fields, unique }: IndexSpec): string =>
  `${name}:${unique === true ? 'unique:' : ''}${fields.join()}`;

/** @returns null when the table does not exist */
export function describe(connection: Statements, name: string): Table | null {
  const known = columnsOf(connection, name);
  if (known.length === 0) return null;
  const paths = pathsIn(known);
  const bytes = bytesFieldIn(known);
  const { indexes, values, search, compressed } = declaredIn(connection, name);
  const apart = bytes === undefined ? [] : [bytesColumn(bytes)];
  const columns = ['id', 'body', ...apart, ...paths.map(columnName)];
  return {
    name,
    paths,
    columns: new Map([['id', 'id'], ...paths.map((path) => [path, columnName(path)] as const)]),
    unique: indexes.flatMap(({ fields, unique }) => (unique === true ? fields : [])),
    indexes: indexes.map((index) => ({
      label: labelOf(name, index),
      paths: index.unique === true ? index.fields : [...new Set([...index.fields, 'id'])],
    })),
    values,
    search,
    insertSql: `INSERT INTO "${name}" (${columns.join()}) VALUES (${columns.map(() => '?').join()})`,
    compressed: compressed.length === 0 ? undefined : compressed,
    bytes,
  };
}

const columnsOf = (connection: Statements, name: string): string[] =>
  connection.prepare('SELECT name FROM pragma_table_info(?)').all([name]).map(String);

const pathsIn = (columns: readonly string[]): string[] =>
  columns.flatMap((one) => (one.startsWith('$.') ? [one.slice(2)] : []));

export const pathsOf = (connection: Statements, name: string): string[] => pathsIn(columnsOf(connection, name));
