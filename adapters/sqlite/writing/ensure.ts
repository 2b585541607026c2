/**
 * Tables and indexes. A collection is `(id, body, "$.path" …)`: one column per indexed path, kept by the writer
 * (table-writer.ts) with the value of values.ts. Columns are only ever added.
 */
import { checkPath } from '../../../ports/document.js';
import type { CollectionSpec, IndexSpec } from '../../../ports/store.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import type { IndexedAs } from '../../../ports/store/tuning.js';
import { ALIASED, aliasLabel } from '../sql/indexed-as.js';
import { createIndex, dropUndeclared, hasIndex } from '../indexing/indexes.js';
import { assignments, scheduleBuild } from '../indexing/building.js';
import { columnName } from '../sql/translate.js';
import { ensureLookups } from '../lookups/lookups.js';
import { shapeOf } from '../schema/labels.js';
import { isMarking, MARK, markLabel, UNINDEXED, type Marks } from '../schema/mark.js';
import { bytesColumn, bytesField } from '../schema/bytes-column.js';
import { declareCompressed } from '../schema/compressed-fields.js';
import { ALL, catchUp } from '../indexing/catch-up.js';

/** Typeless columns: SQLite converts nothing when it stores or compares. */
export function createTable(connection: Connection, name: string): void {
  connection.driver.exec(`CREATE TABLE IF NOT EXISTS "${name}" (id NOT NULL PRIMARY KEY, body TEXT NOT NULL)`);
  connection.forget(name);
}

/** Within a transaction. @throws StoreConflict when stored documents break a new unique index */
export function ensureCollection(connection: Connection, spec: CollectionSpec): void {
  const { name, lookups = [], tuning = {} } = spec;
  const { indexedLater = [], indexedAtOnceWith = [], insertsIndexedLater: insertsLater = false } = tuning;
  const { compressed = [], indexedAs = null } = tuning;
  checkNotIndexed(
    [...compressed, ...(spec.bytes === undefined ? [] : [spec.bytes])],
    [...pathsOf(spec.indexes), ...lookups.map(({ path }) => path)],
  );
  createTable(connection, name);
  const indexes = spec.indexes.map((index) => shapeOf(index, tuning, insertsLater));
  const missing = indexes.filter((index) => !hasIndex(connection, name, index));
  const known = connection.table(name)?.written ?? [];
  const absent = indexedLater.filter((path) => !known.includes(path));
  const now = isLarge(connection, name) ? missing.filter((index) => isNeeded(index, absent)) : missing;
  checkIndexedLater(indexedLater, indexes);
  // Of an unindexed row only columns that are unique already are filled.
  if (missing.some(({ unique }) => unique === true)) catchUp(connection, name, ALL);
  addColumns(connection, name, pathsOf(now), true);
  markRows(connection, name, { indexedLater, indexedAtOnceWith, insertsLater });
  for (const index of now) createIndex(connection, name, index);
  const later = missing.filter((index) => !now.includes(index));
  const added = addColumns(connection, name, pathsOf(later), false);
  if (later.length > 0) scheduleBuild(connection, name, { paths: added, indexes: later });
  declareIndexedAs(connection, name, indexedAs);
  dropUndeclared(connection, name, indexes);
  ensureLookups(connection, name, lookups);
  declareCompressed(connection.driver, name, compressed);
  declareBytes(connection, name, spec.bytes);
  connection.forget(name);
}

/** A column stays when its declaration goes. @throws TypeError when another field holds the bytes already */
function declareBytes(connection: Connection, name: string, field: string | undefined): void {
  if (field === undefined) return;
  const known = bytesField(connection.driver, name);
  if (known === undefined)
    connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${bytesColumn(checkPath(field))} BLOB`);
  else if (known !== field) throw new TypeError(`the bytes of ${name} are in ${known}`);
}

/** @throws TypeError when a field that is stored apart is the id, or there is an index or a look-up over it */
function checkNotIndexed(compressed: readonly string[], paths: readonly string[]): void {
  for (const field of compressed) {
    if (checkPath(field) === 'id' || paths.some((path) => path === field || path.startsWith(`${field}.`)))
      throw new TypeError(`${field} is indexed and cannot be compressed or bytes`);
  }
}

/** @throws TypeError when a path has no index, or a unique one */
function checkIndexedLater(paths: readonly string[], indexes: readonly IndexSpec[]): void {
  for (const path of paths) {
    const over = indexes.filter(({ fields }) => fields.includes(path));
    if (over.length === 0 || over.some(({ unique }) => unique === true))
      throw new TypeError(`${path} has no index that could be brought up to date later`);
  }
}

/** Marked rows follow with their columns. */
function declareIndexedAs(connection: Connection, name: string, alias: IndexedAs | null): void {
  const before = connection.table(name)?.alias ?? null;
  if (JSON.stringify(before) === JSON.stringify(alias)) return;
  const beside = columnName(ALIASED);
  if (before !== null) {
    const at = columnName(before.path);
    connection.driver.exec(`UPDATE "${name}" SET ${at} = ${beside}, ${beside} = NULL WHERE ${beside} IS NOT NULL`);
    connection.driver.exec(`DROP INDEX "${aliasLabel(name, before)}"`);
  }
  if (alias !== null) {
    const { path, value, as } = alias;
    const label = aliasLabel(name, alias);
    const columns = connection.prepare('SELECT name FROM pragma_table_info(?)').all([name]);
    const has = (column: string): boolean => columns.some(([one]) => one === column);
    if (!has(`$.${path}`)) throw new TypeError(`${path} has no index in which a value could stand as another`);
    if (!has(`$.${ALIASED}`)) connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${beside}`);
    const at = columnName(path);
    connection.driver.exec(`UPDATE "${name}" SET ${beside} = '${value}', ${at} = '${as}' WHERE ${at} = '${value}'`);
    connection.driver.exec(`CREATE INDEX "${label}" ON "${name}" (${beside}) WHERE ${beside} IS NOT NULL`);
  }
  connection.forget(name);
}

function markRows(connection: Connection, name: string, marks: Marks): void {
  const before = connection.table(name) as Table;
  const wanted = markLabel(name, marks);
  if (isMarking(marks) ? markLabel(name, before) === wanted : !isMarking(before)) return;
  if (isMarking(before)) {
    catchUp(connection, name, ALL);
    connection.driver.exec(`DROP INDEX "${markLabel(name, before)}"`);
  }
  if (isMarking(marks)) {
    for (const column of marks.insertsLater ? [MARK, UNINDEXED] : [MARK]) addMark(connection, name, column);
    connection.driver.exec(`CREATE INDEX "${wanted}" ON "${name}" (${MARK}) WHERE ${MARK} IS NOT NULL`);
  }
  connection.forget(name);
}

function addMark(connection: Connection, name: string, mark: string): void {
  const columns = connection.prepare('SELECT name FROM pragma_table_info(?)').all([name]);
  if (!columns.some(([column]) => `"${String(column)}"` === mark))
    connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${mark}`);
}

const pathsOf = (indexes: readonly IndexSpec[]): string[] => [...new Set(indexes.flatMap((index) => index.fields))];

/** A table with so many documents is large: a pass over all of them would hold up other writes. */
const LARGE = 10_000;

const isLarge = (connection: Connection, name: string): boolean =>
  connection.prepare(`SELECT 1 FROM "${name}" LIMIT 1 OFFSET ?`).get([LARGE]) !== undefined;

/** Makes the index over marked rows, before anything is written. @param absent later paths without a column */
const isNeeded = ({ fields, unique }: IndexSpec, absent: readonly string[]): boolean =>
  unique === true || fields.some((path) => absent.includes(path));

/** The columns that are missing. @param filled by one pass over the documents */
function addColumns(connection: Connection, name: string, paths: readonly string[], filled: boolean): string[] {
  const known = new Set(connection.table(name)?.written);
  const missing = paths.filter((path) => path !== 'id' && !known.has(checkPath(path)));
  if (missing.length === 0) return [];
  for (const path of missing) connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${columnName(path)}`);
  if (filled)
    connection.driver.exec(`UPDATE "${name}" SET ${assignments(missing, connection.table(name)?.alias ?? null)}`);
  connection.forget(name);
  return missing;
}
