/**
 * Creates tables and indexes. A collection is `(n, id, body, "$.path" …)`: one column per indexed
 * path, maintained by the table writer. Columns are only ever added. `n` identifies rows for the
 * side tables, because VACUUM may renumber a table without such a column.
 */
import { checkPath } from '../../../ports/document.js';
import { StoreConflict, type CollectionSpec } from '../../../ports/store.js';
import { parsedBody } from '../body/stored-body.js';
import type { Connection } from '../connection/connection.js';
import { labelOf, pathsOf } from '../connection/table.js';
import { isDamage } from '../driver/damage.js';
import { violatedColumn, type Value } from '../driver/driver.js';
import { bytesColumn, bytesField } from '../schema/bytes-column.js';
import { declare, declaredIn, declaredOf, type Declared } from '../schema/declared.js';
import { markFormat } from '../schema/format.js';
import { hasSideTables, NO_ROWS, searchTable, sideRowsOf, valuesTable, writeSideRows } from '../schema/side-tables.js';
import { columnName } from '../sql/translate.js';
import { bodyExpression } from '../sql/values.js';

const AT_ONCE = 200;

/** Columns have no type, so that SQLite converts nothing when it stores or compares. */
export function createTable(connection: Connection, name: string): void {
  connection.driver.exec(
    `CREATE TABLE IF NOT EXISTS "${name}" (n INTEGER PRIMARY KEY, id NOT NULL UNIQUE, body TEXT NOT NULL)`,
  );
  markFormat(connection.driver);
  connection.forget(name);
}

/**
 * Call within a transaction.
 * @throws StoreConflict when stored documents violate a new unique index; TypeError
 */
export function ensureCollection(connection: Connection, spec: CollectionSpec): void {
  const { name } = spec;
  const declared = declaredOf(spec);
  checkDeclared(declared, spec.bytes);
  createTable(connection, name);
  declareBytes(connection, name, spec.bytes);
  const before = declaredIn(connection, name);
  if (JSON.stringify(before) === JSON.stringify(declared)) return;
  ensureIndexes(connection, name, declared, before);
  declare(connection.driver, name, declared);
  if (!isEqual([before.values, before.search], [declared.values, declared.search]))
    makeSideTables(connection, name, declared);
  connection.forget(name);
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * @throws TypeError on a unique index over several fields, or when a queried field is stored
 *   separately
 */
function checkDeclared({ indexes, values, search, compressed }: Declared, bytes: string | undefined): void {
  if (indexes.some(({ fields, unique }) => unique === true && fields.length !== 1))
    throw new TypeError('a unique index takes exactly one field');
  const paths = [...indexes.flatMap(({ fields }) => fields), ...values, ...search].map(checkPath);
  for (const field of bytes === undefined ? compressed : [...compressed, bytes]) {
    if (checkPath(field) === 'id' || paths.some((path) => path === field || path.startsWith(`${field}.`)))
      throw new TypeError(`${field} is indexed and cannot be compressed or bytes`);
  }
}

/**
 * The column remains when its declaration is removed.
 * @throws TypeError when another field already holds the bytes
 */
function declareBytes(connection: Connection, name: string, field: string | undefined): void {
  if (field === undefined) return;
  const known = bytesField(connection.driver, name);
  if (known === undefined)
    connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${bytesColumn(checkPath(field))} BLOB`);
  else if (known !== field) throw new TypeError(`the bytes of ${name} are in ${known}`);
}

function ensureIndexes(connection: Connection, name: string, { indexes }: Declared, before: Declared): void {
  const { driver } = connection;
  const known = pathsOf(connection, name);
  const wanted = [...new Set(indexes.flatMap(({ fields }) => fields))];
  const missing = wanted.filter((path) => path !== 'id' && !known.includes(path));
  for (const path of missing) driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${columnName(path)}`);
  const set = missing.map((path) => `${columnName(path)} = ${bodyExpression(path)}`).join();
  // Damaged documents are not indexed.
  if (missing.length > 0) driver.exec(`UPDATE "${name}" SET ${set} WHERE json_valid(body)`);
  for (const index of indexes) {
    const columns = index.fields.map((path) => (path === 'id' ? 'id' : columnName(path)));
    const over = `INDEX IF NOT EXISTS "${labelOf(name, index)}" ON "${name}"`;
    try {
      if (index.unique === true) driver.exec(`CREATE UNIQUE ${over} (${columns.join()})`);
      else driver.exec(`CREATE ${over} (${[...new Set([...columns, 'id'])].join()})`);
    } catch (error) {
      throw violatedColumn(error) === undefined ? error : new StoreConflict(index.fields[0] ?? '');
    }
  }
  const labels = new Set(indexes.map((index) => labelOf(name, index)));
  for (const label of before.indexes.map((index) => labelOf(name, index)))
    if (!labels.has(label)) driver.exec(`DROP INDEX IF EXISTS "${label}"`);
}

function makeSideTables(connection: Connection, name: string, declared: Declared): void {
  const { driver } = connection;
  for (const table of [valuesTable(name), searchTable(name)]) driver.exec(`DROP TABLE IF EXISTS ${table}`);
  if (declared.values.length > 0)
    driver.exec(
      `CREATE TABLE ${valuesTable(name)} (path TEXT NOT NULL, value NOT NULL, n INTEGER NOT NULL,` +
        ' PRIMARY KEY (path, value, n)) WITHOUT ROWID',
    );
  if (declared.search.length > 0)
    driver.exec(
      `CREATE VIRTUAL TABLE ${searchTable(name)} USING fts5(text, content='', contentless_delete=1, detail=none,` +
        ` tokenize='trigram case_sensitive 1')`,
    );
  if (!hasSideTables(declared)) return;
  const some = connection.prepare(`SELECT n FROM "${name}" WHERE n > ? ORDER BY n LIMIT ?`);
  const one = connection.prepare(`SELECT body FROM "${name}" WHERE n = ?`);
  for (let after: Value | undefined = 0; after !== undefined;) {
    const rows: Value[][] = some.all([after, AT_ONCE]);
    for (const [n = null] of rows) {
      try {
        const doc = parsedBody(one.get([n])?.[0] as string);
        writeSideRows(connection, name, n, NO_ROWS, sideRowsOf(doc, declared));
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
    }
    after = rows.at(-1)?.[0];
  }
}
