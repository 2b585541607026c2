/**
 * Look-ups (ports/store.ts, LookupSpec): which documents have a value, or contain a text, from lists of one byte for
 * each. A write of a document only notes its id; the writer takes noted documents in, many in one transaction, and
 * those that were there before the look-ups were declared a few at a time (../writing/background.ts). Both are
 * durable with what they follow, so a process that was killed leaves nothing to repair.
 *
 * Readers take what the lists find and what is noted, and check each against the filter: an answer is exact at any
 * moment. While earlier documents are still being taken in, readers do without.
 *
 * Rejected: FTS5's own tokenizer for trigrams (nothing below three characters, and one table for each kind of value);
 * the writes of the lists with each document (a commit of its own kind for each new group, of pages that every group
 * changes); triggers (each count would parse two bodies).
 */
import { checkPath } from '../../../ports/document.js';
import type { Doc, LookupSpec } from '../../../ports/store.js';
import { parsedBody } from '../body/stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import { isDamage } from '../driver/damage.js';
import type { Value } from '../driver/driver.js';
import {
  freshTable,
  noteTakenIn,
  numbersTable,
  STATE,
  storedLookups,
  takenIn,
  termsTable,
} from '../schema/lookup-tables.js';
import { termsOf } from './terms.js';

/** Documents that one transaction takes in, and its milliseconds: other writes wait no longer than that. */
const AT_ONCE = 200;
const SLICE_MS = 10;

/** Within a transaction. When the paths have changed, all documents are taken in anew. */
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
    connection.backlog.add(name);
  }
  connection.forget(name);
}

/** Within a transaction, for a document that is new, gone, or has other values. */
export function noteForLookups(connection: Connection, { name }: Table, id: string): void {
  connection.prepare(`INSERT OR IGNORE INTO ${freshTable(name)} VALUES (?)`).run([id]);
  connection.backlog.add(name);
}

/** `noted`: more is to be taken in, soon. `earlier`: only documents from before the look-ups. Null: all is done. */
export type Left = 'noted' | 'earlier' | null;

/** Takes documents in, within a transaction. */
export function takeIn(connection: Connection, name: string): Left {
  const table = connection.table(name);
  if (table === null || table.lookups.length === 0) return null;
  const until = performance.now() + SLICE_MS;
  const noted = connection
    .prepare(`SELECT id FROM ${freshTable(name)} LIMIT ?`)
    .all([AT_ONCE])
    .map(idOf);
  const taken = takeSome(connection, table, noted, until);
  const done = connection.prepare(`DELETE FROM ${freshTable(name)} WHERE id IN (SELECT value FROM json_each(?))`);
  if (taken > 0) done.run([JSON.stringify(noted.slice(0, taken))]);
  if (taken < noted.length || taken === AT_ONCE) return 'noted';
  return taken === 0 ? takeEarlier(connection, table, until) : leftOf(connection, name);
}

/** Answers how many were taken in: at least one if there is one, however little time is left. */
function takeSome(connection: Connection, table: Table, ids: readonly string[], until: number): number {
  // Not `RETURNING`: such a statement makes FTS5 write a segment of its own for the document before (12 times the
  // cost).
  const [last] = connection.prepare(`SELECT max(n) FROM ${numbersTable(table.name)}`).get([]) ?? [];
  let n = Number(last ?? 0);
  for (const [i, id] of ids.entries()) {
    takeOne(connection, table, id, ++n);
    if (performance.now() >= until) return i + 1;
  }
  return ids.length;
}

const leftOf = (connection: Connection, name: string): Left => (takenIn(connection, name) === null ? null : 'earlier');

function takeEarlier(connection: Connection, table: Table, until: number): Left {
  const { name } = table;
  const from = takenIn(connection, name);
  if (from === null) return null;
  const sql = `SELECT id FROM "${name}" WHERE id > ? AND id < x'' ORDER BY id LIMIT ?`;
  const ids = connection.prepare(sql).all([from, AT_ONCE]).map(idOf);
  const fresh = ids.filter((id) => numberOf(connection, name, id) === undefined);
  const taken = takeSome(connection, table, fresh, until);
  const last = taken < fresh.length ? (fresh[taken - 1] ?? from) : (ids.at(-1) ?? from);
  const done = taken === fresh.length && ids.length < AT_ONCE;
  noteTakenIn(connection, name, done ? null : last);
  return done ? null : 'earlier';
}

const idOf = ([id]: Value[]): string => id as string;

const numberOf = (connection: Connection, name: string, id: string): Value | undefined =>
  connection.prepare(`SELECT n FROM ${numbersTable(name)} WHERE id = ?`).get([id])?.[0];

/** No look-up is over compressed fields. A damaged document is found by none: null, as one that is gone. */
function storedDoc(connection: Connection, name: string, id: string): Doc | null {
  try {
    const [body] = connection.prepare(`SELECT body FROM "${name}" WHERE id = ?`).get([id]) ?? [];
    return body === undefined ? null : parsedBody(body as string);
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}

/** As the document is now: under the number `n`, or under none when it is gone. */
function takeOne(connection: Connection, { name, lookups }: Table, id: string, n: number): void {
  const doc = connection.recent.get(name, id)?.doc ?? storedDoc(connection, name, id);
  // Most documents are new. Giving one a number is the quickest way to learn that it had none.
  if (doc === null || !numbered(connection, name, id, n)) {
    const old = numberOf(connection, name, id);
    if (old === undefined) return;
    connection.prepare(`DELETE FROM ${termsTable(name)} WHERE rowid = ?`).run([old]);
    connection.prepare(`DELETE FROM ${numbersTable(name)} WHERE n = ?`).run([old]);
    if (doc === null) return;
    numbered(connection, name, id, n);
  }
  connection.prepare(`INSERT INTO ${termsTable(name)} (rowid, terms) VALUES (?, ?)`).run([n, termsOf(doc, lookups)]);
}

/** False: the document has another number. */
const numbered = (connection: Connection, name: string, id: string, n: number): boolean =>
  connection.prepare(`INSERT OR IGNORE INTO ${numbersTable(name)} (n, id) VALUES (?, ?)`).run([n, id]) > 0;

/**
 * Row numbers of all documents that can match, within a snapshot; null when they are more than `most`, or nobody
 * knows yet.
 */
export function rowsByTerms(connection: Connection, name: string, match: string, most: number): number[] | null {
  if (takenIn(connection, name) !== null) return null;
  const found = `SELECT rowid AS n FROM ${termsTable(name)} WHERE ${termsTable(name)} MATCH ? LIMIT ?`;
  // The rows are counted first: many are not worth reading.
  const [n = 0] = connection.prepare(`SELECT count(*) FROM (${found})`).get([match, most + 1]) ?? [];
  if (Number(n) > most) return null;
  const rowsOf = (ids: string, values: Value[]): number[] => {
    const sql = `SELECT d.rowid FROM (${ids}) i CROSS JOIN "${name}" d ON d.id = i.id`;
    return connection
      .prepare(sql)
      .all(values)
      .map(([row]) => row as number);
  };
  const byTerm = `SELECT m.id FROM (${found}) f CROSS JOIN ${numbersTable(name)} m ON m.n = f.n`;
  const rows = rowsOf(byTerm, [match, most]);
  rows.push(...rowsOf(`SELECT id FROM ${freshTable(name)} LIMIT ?`, [most + 1]));
  return rows.length > most ? null : rows;
}
