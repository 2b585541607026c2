import type { CollectionSpec, IndexSpec } from '../../../ports/store/index.js';
import { toBytesColumn, findBytesField } from '../schema/bytes-column.js';
import { readDeclaration, type StatementSource } from '../schema/declarations.js';
import { getColumnName, type ColumnMap } from '../sql/translate.js';

export interface TableIndex {
  label: string;
  /** Paths in order; `id` ends every non-unique index. */
  paths: readonly string[];
}

export interface Table extends Required<Pick<CollectionSpec, 'values' | 'search'>> {
  name: string;
  paths: readonly string[];
  columns: ColumnMap;
  unique: readonly string[];
  indexes: readonly TableIndex[];
  insertSql: string;
  compressed: readonly string[] | undefined;
  bytes: string | undefined;
}

export const buildIndexLabel = (name: string, { fields, unique }: IndexSpec): string =>
  `${name}:${unique === true ? 'unique:' : ''}${fields.join()}`;

export function describeTable(connection: StatementSource, name: string): Table | null {
  const known = listColumns(connection, name);
  if (known.length === 0) return null;
  const paths = selectPaths(known);
  const bytes = findBytesField(known);
  const { indexes, values, search, compressed } = readDeclaration(connection, name);
  const apart = bytes === undefined ? [] : [toBytesColumn(bytes)];
  const columns = ['id', 'body', ...apart, ...paths.map(getColumnName)];
  return {
    name,
    paths,
    columns: new Map([['id', 'id'], ...paths.map((path) => [path, getColumnName(path)] as const)]),
    unique: indexes.flatMap(({ fields, unique }) => (unique === true ? fields : [])),
    indexes: indexes.map((index) => ({
      label: buildIndexLabel(name, index),
      paths: index.unique === true ? index.fields : [...new Set([...index.fields, 'id'])],
    })),
    values,
    search,
    insertSql: `INSERT INTO "${name}" (${columns.join()}) VALUES (${columns.map(() => '?').join()})`,
    compressed: compressed.length === 0 ? undefined : compressed,
    bytes,
  };
}

const listColumns = (connection: StatementSource, name: string): string[] =>
  connection.prepare('SELECT name FROM pragma_table_info(?)').all([name]).map(String);

const selectPaths = (columns: readonly string[]): string[] =>
  columns.flatMap((one) => (one.startsWith('$.') ? [one.slice(2)] : []));

export const listPaths = (connection: StatementSource, name: string): string[] =>
  selectPaths(listColumns(connection, name));
