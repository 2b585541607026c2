/**
 * Creates tables and indexes. `n` identifies rows for the side tables, because VACUUM may renumber
 * a table without such a column.
 */
import { checkPath } from '../../../ports/document.js';
import { StoreConflict, type CollectionSpec } from '../../../ports/store/index.js';
import { parseBody } from '../stored-body.js';
import type { Connection } from '../connection/connection.js';
import { buildIndexLabel, listPaths } from '../connection/table.js';
import { isDamageError } from '../driver/damage.js';
import { parseViolatedColumn, type SqlValue } from '../driver/driver.js';
import { toBytesColumn, readBytesField } from '../schema/bytes-column.js';
import { saveDeclaration, readDeclaration, toDeclaration, type CollectionDeclaration } from '../schema/declarations.js';
import { writeFormatVersion } from '../schema/format.js';
import {
  hasSideTables,
  EMPTY_SIDE_ROWS,
  getSearchTable,
  buildSideRows,
  getValuesTable,
  writeSideRows,
} from '../schema/side-tables.js';
import { getColumnName } from '../sql/translate.js';
import { buildBodyExpression } from '../sql/values.js';

const FILL_BATCH_DOCUMENTS = 200;

/** No type, so that SQLite converts nothing. */
export function createTable(connection: Connection, name: string): void {
  connection.driver.exec(
    `CREATE TABLE IF NOT EXISTS "${name}" (n INTEGER PRIMARY KEY, id NOT NULL UNIQUE, body TEXT NOT NULL)`,
  );
  writeFormatVersion(connection.driver);
  connection.forgetTable(name);
}

/**
 * Call within a transaction.
 * @throws StoreConflict when stored documents violate a new unique index; TypeError
 */
export function ensureCollection(connection: Connection, spec: CollectionSpec): void {
  const { name } = spec;
  const declared = toDeclaration(spec);
  validateDeclaration(declared, spec.bytes);
  createTable(connection, name);
  declareBytes(connection, name, spec.bytes);
  const before = readDeclaration(connection, name);
  if (JSON.stringify(before) === JSON.stringify(declared)) return;
  ensureIndexes(connection, name, declared, before);
  saveDeclaration(connection.driver, name, declared);
  if (!isEqual([before.values, before.search], [declared.values, declared.search]))
    recreateSideTables(connection, name, declared);
  connection.forgetTable(name);
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * @throws TypeError on a unique index over several fields, or when a queried field is stored
 *   separately
 */
function validateDeclaration(
  { indexes, values, search, compressed }: CollectionDeclaration,
  bytes: string | undefined,
): void {
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
  const known = readBytesField(connection.driver, name);
  if (known === undefined)
    connection.driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${toBytesColumn(checkPath(field))} BLOB`);
  else if (known !== field) throw new TypeError(`the bytes of ${name} are stored in ${known}`);
}

function ensureIndexes(
  connection: Connection,
  name: string,
  { indexes }: CollectionDeclaration,
  before: CollectionDeclaration,
): void {
  const { driver } = connection;
  const known = listPaths(connection, name);
  const wanted = [...new Set(indexes.flatMap(({ fields }) => fields))];
  const missing = wanted.filter((path) => path !== 'id' && !known.includes(path));
  for (const path of missing) driver.exec(`ALTER TABLE "${name}" ADD COLUMN ${getColumnName(path)}`);
  const set = missing.map((path) => `${getColumnName(path)} = ${buildBodyExpression(path)}`).join();
  // Damaged documents are not indexed.
  if (missing.length > 0) driver.exec(`UPDATE "${name}" SET ${set} WHERE json_valid(body)`);
  for (const index of indexes) {
    const columns = index.fields.map((path) => (path === 'id' ? 'id' : getColumnName(path)));
    const over = `INDEX IF NOT EXISTS "${buildIndexLabel(name, index)}" ON "${name}"`;
    try {
      if (index.unique === true) driver.exec(`CREATE UNIQUE ${over} (${columns.join()})`);
      else driver.exec(`CREATE ${over} (${[...new Set([...columns, 'id'])].join()})`);
    } catch (error) {
      throw parseViolatedColumn(error) === undefined ? error : new StoreConflict(index.fields[0] ?? '');
    }
  }
  const labels = new Set(indexes.map((index) => buildIndexLabel(name, index)));
  for (const label of before.indexes.map((index) => buildIndexLabel(name, index)))
    if (!labels.has(label)) driver.exec(`DROP INDEX IF EXISTS "${label}"`);
}

function recreateSideTables(connection: Connection, name: string, declared: CollectionDeclaration): void {
  const { driver } = connection;
  for (const table of [getValuesTable(name), getSearchTable(name)]) driver.exec(`DROP TABLE IF EXISTS ${table}`);
  if (declared.values.length > 0)
    driver.exec(
      `CREATE TABLE ${getValuesTable(name)} (path TEXT NOT NULL, value NOT NULL, n INTEGER NOT NULL,` +
        ' PRIMARY KEY (path, value, n)) WITHOUT ROWID',
    );
  if (declared.search.length > 0)
    driver.exec(
      `CREATE VIRTUAL TABLE ${getSearchTable(name)} USING fts5(text, content='', contentless_delete=1, detail=none,` +
        ` tokenize='trigram case_sensitive 1')`,
    );
  if (!hasSideTables(declared)) return;
  const some = connection.prepare(`SELECT n FROM "${name}" WHERE n > ? ORDER BY n LIMIT ?`);
  const one = connection.prepare(`SELECT body FROM "${name}" WHERE n = ?`);
  for (let after: SqlValue | undefined = 0; after !== undefined;) {
    const rows: SqlValue[][] = some.all([after, FILL_BATCH_DOCUMENTS]);
    for (const [n = null] of rows) {
      try {
        const doc = parseBody(one.get([n])?.[0] as string);
        writeSideRows(connection, name, n, EMPTY_SIDE_ROWS, buildSideRows(doc, declared));
      } catch (error) {
        if (!isDamageError(error)) throw error;
      }
    }
    after = rows.at(-1)?.[0];
  }
}
