/**
 * The tables of a collection's look-ups (lookups.ts):
 *  - `<name>:terms`: full text without the texts, which maps a term to numbers;
 *  - `<name>:numbers`: number and id of each document that has been taken in;
 *  - `<name>:fresh`: ids of documents that were written since;
 *  - `~lookups`, one for all: which paths, and up to which id the documents that were there before have been taken in.
 * They hold numbers of their own and not SQLite's row numbers, which a VACUUM may change.
 */
import type { LookupSpec } from '../../../ports/store.js';
import type { Driver } from '../driver/driver.js';

/** A connection, as far as these tables need one. */
type Statements = Pick<Driver, 'prepare'>;

export const STATE = '"~lookups"';

export const termsTable = (name: string): string => `"${name}:terms"`;
export const numbersTable = (name: string): string => `"${name}:numbers"`;
export const freshTable = (name: string): string => `"${name}:fresh"`;

const hasState = (connection: Statements): boolean =>
  connection.prepare(`SELECT 1 FROM sqlite_master WHERE name = '~lookups'`).get([]) !== undefined;

export function storedLookups(connection: Statements, name: string): LookupSpec[] {
  if (!hasState(connection)) return [];
  const [spec = '[]'] = connection.prepare(`SELECT spec FROM ${STATE} WHERE collection = ?`).get([name]) ?? [];
  return JSON.parse(spec as string) as LookupSpec[];
}

export function tablesWithLookups(connection: Statements): string[] {
  if (!hasState(connection)) return [];
  return connection
    .prepare(`SELECT collection FROM ${STATE}`)
    .all([])
    .map(([name]) => String(name));
}

/** Up to which id earlier documents are taken in; null: all of them. */
export function takenIn(connection: Statements, name: string): string | null {
  const [id = null] = connection.prepare(`SELECT taken_in FROM ${STATE} WHERE collection = ?`).get([name]) ?? [];
  return id as string | null;
}

export function noteTakenIn(connection: Statements, name: string, id: string | null): void {
  connection.prepare(`UPDATE ${STATE} SET taken_in = ? WHERE collection = ?`).run([id, name]);
}
