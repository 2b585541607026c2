/**
 * The tables of a collection's look-ups (lookups.ts):
 *  - `<name>:terms`: full text without the texts, which maps a term to numbers;
 *  - `<name>:numbers`: number and id of each document that has been taken in;
 *  - `<name>:fresh`: ids of documents that were written since;
 *  - `~lookups`, one for all: which paths, and up to which id the documents that were there before have been taken in.
 * They hold numbers of their own and not SQLite's row numbers, which a VACUUM may change.
 */
import { checkPath } from '../../ports/document.js';
import type { LookupSpec } from '../../ports/store.js';
import type { Connection } from './connection.js';

const STATE = '"~lookups"';

export const termsTable = (name: string): string => `"${name}:terms"`;
export const numbersTable = (name: string): string => `"${name}:numbers"`;
export const freshTable = (name: string): string => `"${name}:fresh"`;

const hasState = (connection: Connection): boolean =>
  connection.prepare(`SELECT 1 FROM sqlite_master WHERE name = '~lookups'`).get([]) !== undefined;

export function storedLookups(connection: Connection, name: string): LookupSpec[] {
  if (!hasState(connection)) return [];
  const [spec = '[]'] = connection.prepare(`SELECT spec FROM ${STATE} WHERE collection = ?`).get([name]) ?? [];
  return JSON.parse(spec as string) as LookupSpec[];
}

export function tablesWithLookups(connection: Connection): string[] {
  if (!hasState(connection)) return [];
  return connection
    .prepare(`SELECT collection FROM ${STATE}`)
    .all([])
    .map(([name]) => String(name));
}

/** Up to which id earlier documents are taken in; null: all of them. */
export function takenIn(connection: Connection, name: string): string | null {
  const [id = null] = connection.prepare(`SELECT taken_in FROM ${STATE} WHERE collection = ?`).get([name]) ?? [];
  return id as string | null;
}

export function noteTakenIn(connection: Connection, name: string, id: string | null): void {
  connection.prepare(`UPDATE ${STATE} SET taken_in = ? WHERE collection = ?`).run([id, name]);
}

/** Within a transaction. Other paths than before: all documents are taken in anew. */
export function ensureLookups(connection: Connection, name: string, lookups: readonly LookupSpec[]): void {
  for (const { path } of lookups) checkPath(path);
  const wanted = JSON.stringify(lookups.map(({ path, by }) => ({ path, by })));
  const stored = storedLookups(connection, name);
  if (JSON.stringify(stored) === wanted) return;
  const { driver } = connection;
  if (stored.length > 0) {
    for (const table of [termsTable(name), numbersTable(name), freshTable(name)]) driver.exec(`DROP TABLE ${table}`);
    connection.prepare(`DELETE FROM ${STATE} WHERE collection = ?`).run([name]);
  }
  if (lookups.length > 0) {
    driver.exec(`CREATE TABLE IF NOT EXISTS ${STATE} (collection TEXT PRIMARY KEY, spec TEXT NOT NULL, taken_in TEXT)`);
    driver.exec(
      `CREATE VIRTUAL TABLE ${termsTable(name)} USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize='ascii')`,
    );
    driver.exec(`CREATE TABLE ${numbersTable(name)} (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)`);
    driver.exec(`CREATE TABLE ${freshTable(name)} (id TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID`);
    const empty = connection.prepare(`SELECT 1 FROM "${name}" LIMIT 1`).get([]) === undefined;
    connection
      .prepare(`INSERT INTO ${STATE} (collection, spec, taken_in) VALUES (?, ?, ?)`)
      .run([name, wanted, empty ? null : '']);
    connection.unsettled.add(name);
  }
  connection.forget(name);
}
