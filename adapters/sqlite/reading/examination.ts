/**
 * Reads all stored data step by step: first SQLite's check of each table's pages, then every
 * document strictly. Damage is recorded and skipped. Nothing is written or repaired.
 */
import type { Examined } from '../../../ports/store/examination.js';
import { parsedBody, wholeBody } from '../body/stored-body.js';
import type { Connection } from '../connection/connection.js';
import { isDamage } from '../driver/damage.js';
import { isCorrupt, type Value } from '../driver/driver.js';

const AT_ONCE = 100;
const MOST = 20;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class Examination {
  #documents = 0;
  #faults = 0;
  readonly #damage: string[] = [];

  constructor(private readonly connection: Connection) {}

  /**
   * Performs one step per iteration, so that the caller may pause in between.
   * @throws the driver's error when it is not damage
   */
  *steps(): Generator<void, Examined> {
    const tables = this.#tables();
    for (const { name, virtual } of tables) {
      if (virtual) continue;
      this.#checkPages(name);
      yield;
    }
    for (const { name, documents } of tables) if (documents) yield* this.#readAll(name);
    const more = Math.max(0, this.#faults - this.#damage.length);
    return { ok: this.#faults === 0, documents: this.#documents, damage: this.#damage, more };
  }

  #tables(): { name: string; virtual: boolean; documents: boolean }[] {
    return (
      this.#tried('the schema', () =>
        this.connection
          .prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name`)
          .all([])
          .map(([name, sql]) => ({
            name: String(name),
            virtual: /^CREATE VIRTUAL/i.test(String(sql)),
            documents: /\(n INTEGER PRIMARY KEY, id NOT NULL UNIQUE, body TEXT NOT NULL/.test(String(sql)),
          })),
      ) ?? []
    );
  }

  #checkPages(name: string): void {
    const said = this.#tried(`the pages of ${name}`, () =>
      this.connection.driver.prepare(`PRAGMA quick_check("${name.replaceAll('"', '""')}")`).all([]),
    );
    for (const [line] of said ?? []) if (line !== 'ok') this.#note(`the pages of ${name}: ${String(line)}`);
  }

  *#readAll(name: string): Generator<void> {
    let after: Value = 0;
    for (;;) {
      const rows: Value[][] | null = this.#tried(`the rows of ${name}`, () => this.#rowsAfter(name, after));
      if (rows === null || rows.length === 0) return;
      for (const row of rows) this.#readOne(name, row);
      after = rows.at(-1)?.[0] ?? null;
      yield;
    }
  }

  #rowsAfter(name: string, after: Value): Value[][] {
    const from = `FROM "${name}" WHERE rowid > ? ORDER BY rowid LIMIT ${AT_ONCE}`;
    try {
      return this.connection.prepare(`SELECT rowid, id, body ${from}`).all([after]);
    } catch (error) {
      if (!isDamage(error) && !isCorrupt(error)) throw error;
      return this.connection.prepare(`SELECT rowid ${from}`).all([after]);
    }
  }

  #readOne(name: string, row: readonly Value[]): void {
    const [rowid = null] = row;
    let id: Value | undefined = row[1];
    const at = (): string => (typeof id === 'string' ? `the document "${id}"` : `row ${String(rowid)}`);
    try {
      let body = row[2];
      if (id === undefined) {
        [id] = this.connection.prepare(`SELECT id FROM "${name}" WHERE rowid = ?`).get([rowid]) ?? [];
        [body] = this.connection.prepare(`SELECT body FROM "${name}" WHERE rowid = ?`).get([rowid]) ?? [];
      }
      if (body === undefined) return;
      const doc = parsedBody(wholeBody(String(body)));
      if (doc.id === id) this.#documents += 1;
      else this.#note(`${at()} of ${name}: its body has another id`);
    } catch (error) {
      if (!isDamage(error) && !isCorrupt(error)) throw error;
      this.#note(`${at()} of ${name}: ${textOf(error)}`);
    }
  }

  /** @returns null on damage, which is recorded */
  #tried<V>(what: string, read: () => V): V | null {
    try {
      return read();
    } catch (error) {
      if (!isDamage(error) && !isCorrupt(error)) throw error;
      this.#note(`${what}: ${textOf(error)}`);
      return null;
    }
  }

  #note(sentence: string): void {
    this.#faults += 1;
    if (this.#damage.length < MOST) this.#damage.push(sentence);
  }
}
