/**
 * Tables and indexes. A collection is `(id, body, "$.path" …)`: one column per indexed path, kept by the writer (writes.ts)
 * with the value of values.ts. Columns are only ever added.
 */
import { checkPath } from '../../ports/document.js';
import type { CollectionSpec, IndexSpec } from '../../ports/store.js';
import type { Connection, Table } from './connection.js';
import { FOLDED, foldLabel, type Fold } from './indexing/fold.js';
import { createIndex, dropUndeclared, hasIndex } from './indexing/indexes.js';
import { assignments, makeLater } from './indexing/later.js';
import { columnName } from './translate.js';
import { ensureLookups } from './lookups/lookups.js';
import { isMarking, MARK, markLabel, PENDING, type Marks } from './mark.js';
import { declarePacked } from './packing/fields.js';
import { ALL, settle } from './unsettled.js';

/** Typeless columns: SQLite converts nothing when it stores or compares. */
export function createTable(connection: Connection, name: string): void {
  connection.driver.exec(`CREATE TABLE IF NOT EXISTS "${name}" (id NOT NULL PRIMARY KEY, body TEXT NOT NULL)`);
  connection.forget(name);
}

/** Within a transaction. @throws StoreConflict when stored documents break a new unique index */
export function ensureCollection(
  connection: Connection,
  { name, indexes, deferred = [], deferredInserts: pending = false, folded, lookups = [], packed = [] }: CollectionSpec,
): void {
  checkUnindexed(packed, [...indexes.flatMap(({ fields }) => fields), ...lookups.map(({ path }) => path)]);
  createTable(connection, name);
  const missing = indexes.filter((index) => !hasIndex(connection, name, { ...index, settled: pending }));
  const known = connection.table(name)?.written ?? [];
  const absent = deferred.filter((path) => !known.includes(path));
  const now = isLarge(connection, name) ? missing.filter((index) => isNeeded(index, absent)) : missing;
  checkDeferred(deferred, indexes);
  // Of a pending row only columns that are unique already are filled.
  if (missing.some(({ unique }) => unique === true)) settle(connection, name, ALL);
  addColumns(connection, name, pathsOf(now), true);
  markRows(connection, name, { deferred, pending });
  for (const index of now) createIndex(connection, name, { ...index, settled: pending });
  const later = missing.filter((index) => !now.includes(index));
  const added = addColumns(connection, name, pathsOf(later), false);
  if (later.length > 0) makeLater(connection, name, { paths: added, indexes: later });
  declareFold(connection, name, folded ?? null);
  dropUndeclared(connection, name, indexes);
  ensureLookups(connection, name, lookups);
  declarePacked(connection.driver, name, packed);
  connection.forget(name);
}

/** @throws TypeError when a packed field is the id, or there is an index or a look-up over it */
function checkUnindexed(packed: readonly string[], paths: readonly string[]): void {
  for (const field of packed) {
    if (checkPath(field) === 'id' || paths.some((path) => path === field || path.startsWith(`${field}.`)))
      throw new TypeError(`${field} is indexed and cannot be packed`);
  }
}

/** @throws TypeError when a deferred path has no index, or a unique one */
function checkDeferred(paths: readonly string[], indexes: readonly IndexSpec[]): void {
  for (const path of paths) {
    const over = indexes.filter(({ fields }) => fields.includes(path));
    if (over.length === 0 || over.some(({ unique }) => unique === true))
      throw new TypeError(`${path} has no index that could be deferred`);
  }
}

/** Rows that are pending, or that lag behind, are folded with their columns. */
function declareFold(connection: Connection, name: string, fold: Fold | null): void {
  const before = connection.table(name)?.fold ?? null;
  if (JSON.stringify(before) === JSON.stringify(fold)) return;
  const beside = columnName(FOLDED);
  if (before !== null) {
    const at = columnName(before.path);
    connection.driver.exec(`UPDATE "${name}" SET ${at} = ${beside}, ${beside} = NULL WHERE ${beside} IS NOT NULL`);
    connection.driver.exec(`DROP INDEX "${foldLabel(name, before)}"`);
  }
  if (fold !== null) {
    const { path, value, as } = fold;
    const label = foldLabel(name, fold);
    const columns = connection.prepare('SELECT name FROM pragma_table_info(?)').all([name]);
    const has = (column: string): boolean => columns.some(([one]) => one === column);
    if (!has(`$.${path}`)) throw new TypeError(`${path} has no index that could be folded`);
    if (!has(`$.${FOLDED}`)) connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${beside}`);
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
    settle(connection, name, ALL);
    connection.driver.exec(`DROP INDEX "${markLabel(name, before)}"`);
  }
  if (isMarking(marks)) {
    for (const column of marks.pending ? [MARK, PENDING] : [MARK]) addMark(connection, name, column);
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

/** So many documents that a pass over all would hold up other writes. */
const LARGE = 10_000;

const isLarge = (connection: Connection, name: string): boolean =>
  connection.prepare(`SELECT 1 FROM "${name}" LIMIT 1 OFFSET ?`).get([LARGE]) !== undefined;

/** Nothing may be written without it. @param absent deferred paths without a column */
const isNeeded = ({ fields, unique }: IndexSpec, absent: readonly string[]): boolean =>
  unique === true || fields.some((path) => absent.includes(path));

/** The columns that are missing. @param filled by one pass over the documents */
function addColumns(connection: Connection, name: string, paths: readonly string[], filled: boolean): string[] {
  const known = new Set(connection.table(name)?.written);
  const missing = paths.filter((path) => path !== 'id' && !known.has(checkPath(path)));
  if (missing.length === 0) return [];
  for (const path of missing) connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${columnName(path)}`);
  if (filled)
    connection.driver.exec(`UPDATE "${name}" SET ${assignments(missing, connection.table(name)?.fold ?? null)}`);
  connection.forget(name);
  return missing;
}
