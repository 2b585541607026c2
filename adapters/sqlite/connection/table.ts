/** A collection's table, as the schema of the file tells it. */
import type { LookupSpec } from '../../../ports/store.js';
import type { IndexedAs } from '../../../ports/store/tuning.js';
import type { Driver } from '../driver/driver.js';
import { bytesFieldIn } from '../schema/bytes-column.js';
import { compressedFields } from '../schema/compressed-fields.js';
import { buildOf } from '../schema/index-builds.js';
import { neededIn } from '../schema/labels.js';
import { storedLookups } from '../schema/lookup-tables.js';
import { marksOf, type Marks } from '../schema/mark.js';
import { indexedAsOf } from '../sql/indexed-as.js';
import { columnsWith, type Columns } from '../sql/translate.js';

export interface TableIndex {
  /** Paths, in order; `id` ends every index but the unique ones. */
  paths: readonly string[];
  /** Documents that lack this path are not in it. */
  needed: string | null;
}

export interface Table extends Marks {
  name: string;
  /** Paths whose columns are read. */
  columns: Columns;
  /** Paths whose columns are read, and those whose columns are being filled (../indexing/building.ts). */
  written: readonly string[];
  unique: readonly string[];
  /** Paths whose columns may be older than the body in marked rows; empty: no row is marked. */
  behind: readonly string[];
  alias: IndexedAs | null;
  indexes: readonly TableIndex[];
  lookups: readonly LookupSpec[];
  compressed: readonly string[] | undefined;
  /** The field that holds bytes. */
  bytes: string | undefined;
}

/** The part of a connection that describing a table needs. */
type Statements = Pick<Driver, 'prepare'>;

/** Null: there is no such table. */
export function describe(connection: Statements, name: string): Table | null {
  const columns = connection.prepare('SELECT name FROM pragma_table_info(?)').all([name]);
  if (columns.length === 0) return null;
  const unique = connection
    .prepare(
      `SELECT c.name FROM pragma_index_list(?) i, pragma_index_info(i.name) c WHERE i."unique" AND i.origin = 'c'`,
    )
    .all([name]);
  const indexes = connection.prepare('SELECT name FROM pragma_index_list(?)').all([name]).map(String);
  const marks = marksOf(name, indexes);
  const alias = indexedAsOf(name, indexes);
  const written = paths(columns);
  const exact = paths(unique);
  const unfilled = buildOf(connection, name)?.paths ?? [];
  return {
    name,
    columns: columnsWith(
      written.filter((path) => !unfilled.includes(path)),
      alias,
    ),
    alias,
    written,
    unique: exact,
    ...marks,
    behind: marks.insertsLater ? written.filter((path) => !exact.includes(path)) : marks.indexedLater,
    indexes: tableIndexes(connection, name),
    lookups: storedLookups(connection, name),
    compressed: compressedFields(connection, name),
    bytes: bytesFieldIn(columns.map(String)),
  };
}

function tableIndexes(connection: Statements, name: string): TableIndex[] {
  const rows = connection
    .prepare(
      `SELECT i.name, c.name FROM pragma_index_list(?) i, pragma_index_info(i.name) c WHERE i.origin = 'c'
        ORDER BY i.name, c.seqno`,
    )
    .all([name]);
  const fields = new Map<string, string[]>();
  for (const [index, column] of rows.map((row) => row.map(String)) as [string, string][]) {
    const path = column === 'id' ? ['id'] : paths([[column]]);
    fields.set(index, [...(fields.get(index) ?? []), ...path]);
  }
  return Array.from(fields, ([label, own]) => ({ paths: own, needed: neededIn(name, label) }));
}

const paths = (rows: readonly unknown[][]): string[] =>
  rows.map(([name]) => String(name)).flatMap((name) => (name.startsWith('$.') ? [name.slice(2)] : []));
