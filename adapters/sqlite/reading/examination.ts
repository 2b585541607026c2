/** Damage is recorded and skipped. Nothing is written or repaired. */
import type { StoreExaminationResult } from '../../../ports/store/examination.js';
import { parseBody, restoreBody } from '../stored-body.js';
import type { Connection } from '../connection/connection.js';
import { isDamageError } from '../driver/damage.js';
import { isCorruptionError, type SqlValue } from '../driver/driver.js';

const STEP_DOCUMENTS = 100;
const MAX_FINDINGS = 20;

const formatError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class StoreExaminer {
  #documents = 0;
  #faults = 0;
  readonly #damage: string[] = [];

  constructor(private readonly connection: Connection) {}

  /** @throws the driver's error when it is not damage */
  *runSteps(): Generator<void, StoreExaminationResult> {
    const tables = this.#listTables();
    for (const { name, virtual } of tables) {
      if (virtual) continue;
      this.#checkPages(name);
      yield;
    }
    for (const { name, documents } of tables) if (documents) yield* this.#readAll(name);
    const more = Math.max(0, this.#faults - this.#damage.length);
    return { ok: this.#faults === 0, documents: this.#documents, damage: this.#damage, more };
  }

  #listTables(): { name: string; virtual: boolean; documents: boolean }[] {
    return (
      this.#attempt('the schema', () =>
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
    const rows = this.#attempt(`the pages of ${name}`, () =>
      this.connection.driver.prepare(`PRAGMA quick_check("${name.replaceAll('"', '""')}")`).all([]),
    );
    for (const [line] of rows ?? []) if (line !== 'ok') this.#recordDamage(`the pages of ${name}: ${String(line)}`);
  }

  *#readAll(name: string): Generator<void> {
    let after: SqlValue = 0;
    for (;;) {
      const rows: SqlValue[][] | null = this.#attempt(`the rows of ${name}`, () => this.#readRowsAfter(name, after));
      if (rows === null || rows.length === 0) return;
      for (const row of rows) this.#readOne(name, row);
      after = rows.at(-1)?.[0] ?? null;
      yield;
    }
  }

  #readRowsAfter(name: string, after: SqlValue): SqlValue[][] {
    const from = `FROM "${name}" WHERE rowid > ? ORDER BY rowid LIMIT ${STEP_DOCUMENTS}`;
    try {
      return this.connection.prepare(`SELECT rowid, id, body ${from}`).all([after]);
    } catch (error) {
      if (!isDamageError(error) && !isCorruptionError(error)) throw error;
      return this.connection.prepare(`SELECT rowid ${from}`).all([after]);
    }
  }

  #readOne(name: string, row: readonly SqlValue[]): void {
    const [rowid = null] = row;
    let id: SqlValue | undefined = row[1];
    const at = (): string => (typeof id === 'string' ? `the document "${id}"` : `row ${String(rowid)}`);
    try {
      let body = row[2];
      if (id === undefined) {
        [id] = this.connection.prepare(`SELECT id FROM "${name}" WHERE rowid = ?`).get([rowid]) ?? [];
        [body] = this.connection.prepare(`SELECT body FROM "${name}" WHERE rowid = ?`).get([rowid]) ?? [];
      }
      if (body === undefined) return;
      const doc = parseBody(restoreBody(String(body)));
      if (doc.id === id) this.#documents += 1;
      else this.#recordDamage(`${at()} of ${name}: its body has a different id`);
    } catch (error) {
      if (!isDamageError(error) && !isCorruptionError(error)) throw error;
      this.#recordDamage(`${at()} of ${name}: ${formatError(error)}`);
    }
  }

  /** @returns null on damage, which is recorded */
  #attempt<V>(what: string, read: () => V): V | null {
    try {
      return read();
    } catch (error) {
      if (!isDamageError(error) && !isCorruptionError(error)) throw error;
      this.#recordDamage(`${what}: ${formatError(error)}`);
      return null;
    }
  }

  #recordDamage(sentence: string): void {
    this.#faults += 1;
    if (this.#damage.length < MAX_FINDINGS) this.#damage.push(sentence);
  }
}
