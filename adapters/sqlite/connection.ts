/**
 * One connection to the file: pragmas, prepared statements (the least recently used one goes first), and what is known of
 * the tables. Which paths have an index column is read from the schema itself and again whenever its version changed,
 * so a process that runs while another one migrates never writes a row without its new columns.
 */
import { neededIn } from './indexing/labels.js';
import { Ahead } from './kept/ahead.js';
import { isBusy, type Driver, type Statement } from './driver.js';
import { foldOf, type Fold } from './indexing/fold.js';
import { Seen } from './seen.js';
import { columnsWith, type Columns } from './translate.js';
import { openDriver } from './open.js';
import { marksOf } from './mark.js';
import { laterOf } from './indexing/later-state.js';
import { storedLookups } from './lookups/tables.js';
import { packedFields } from './packing/fields.js';
import { Recent } from './kept/recent.js';
import type { AnyRender } from '../../ports/rendering.js';
import type { LookupSpec } from '../../ports/store.js';

const MAX_STATEMENTS = 400;
/** One wait for another process's lock, in milliseconds; SQLite polls. */
const BUSY_MS = 5_000;
const BUSY_ATTEMPTS = 6;
/** Pages that a connection keeps: hot ones are in the system's cache as well. */
const CACHE_KB = 4_000;
/** A 16 MB log: hot pages are copied to the file once in a while rather than every few commits (1,000 was 1.1 to 1.8 times slower). */
const CHECKPOINT_PAGES = 4_000;

export interface TableIndex {
  /** In order; `id` ends all but the unique ones. */
  paths: readonly string[];
  /** Documents that lack this path are not in it. */
  needed: string | null;
}

export interface Table {
  name: string;
  /** Paths whose columns are read. */
  columns: Columns;
  /** Those, and the ones that are being filled (later.ts). */
  written: readonly string[];
  unique: readonly string[];
  /** Paths whose columns lag behind after a change (unsettled.ts). */
  deferred: readonly string[];
  /** Rows that are inserted are pending (mark.ts). */
  pending: boolean;
  /** Paths whose columns may lag behind in marked rows; empty: no row is marked. */
  lagging: readonly string[];
  fold: Fold | null;
  indexes: readonly TableIndex[];
  lookups: readonly LookupSpec[];
  packed: readonly string[] | undefined;
}

export interface ConnectionOptions {
  path: string;
  durability: 'full' | 'normal';
  /** Of a `Seen`, for the connection that writes. */
  seen?: SharedArrayBuffer;
}

export class Connection {
  readonly driver: Driver;
  /** Tables in which this connection may have marked rows (unsettled.ts), or documents for their look-ups (lookups.ts). */
  readonly unsettled = new Set<string>();
  /**
   * Those used lately, and those of the generation before. Rejected: moving each to the end of one map when it is used. A map
   * that loses and gains an entry at every use is made anew again and again, and V8 keeps what hangs on the old ones.
   */
  #statements = new Map<string, Statement>();
  #older = new Map<string, Statement>();
  readonly #tables = new Map<string, Table | null>();
  /** By the address of their modules: what makes JSON of documents, or why that was not to be had. */
  readonly renders = new Map<string, AnyRender | Error>();
  readonly recent = new Recent();
  readonly ahead = new Ahead();
  #version = -1;
  readonly #seen: Seen;

  /** @param busyMs how long a statement waits for a lock before it fails as busy */
  constructor({ path, durability, seen }: ConnectionOptions, { busyMs = BUSY_MS, cacheKb = CACHE_KB } = {}) {
    this.#seen = new Seen(seen);
    this.driver = openDriver(path);
    this.driver.exec(`PRAGMA busy_timeout = ${busyMs}`);
    // Two processes that make a new file at once: the switch to WAL does not wait for a lock by itself.
    patiently(() => this.driver.exec('PRAGMA journal_mode = WAL'));
    this.driver.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`);
    this.driver.exec('PRAGMA temp_store = MEMORY');
    this.driver.exec(`PRAGMA cache_size = -${cacheKb}`);
    this.driver.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  }

  prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#older.get(sql) ?? this.driver.prepare(sql);
    if (this.#statements.size >= MAX_STATEMENTS / 2) {
      this.#older = this.#statements;
      this.#statements = new Map();
    }
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Call once per transaction, or before a read outside of one. */
  refresh(): void {
    const [version] = this.prepare('PRAGMA schema_version').get([]) ?? [];
    if (version === this.#version) return;
    this.#version = version as number;
    this.#tables.clear();
  }

  /** What is known of a collection's table; null when there is none yet. */
  table(name: string): Table | null {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = this.#describe(name);
      this.#tables.set(name, table);
    }
    return table;
  }

  #describe(name: string): Table | null {
    const columns = this.prepare('SELECT name FROM pragma_table_info(?)').all([name]);
    if (columns.length === 0) return null;
    const unique = this.prepare(
      `SELECT c.name FROM pragma_index_list(?) i, pragma_index_info(i.name) c WHERE i."unique" AND i.origin = 'c'`,
    ).all([name]);
    const indexes = this.prepare('SELECT name FROM pragma_index_list(?)').all([name]);
    const { deferred, pending } = marksOf(name, indexes.map(String));
    const fold = foldOf(name, indexes.map(String));
    const lookups = storedLookups(this, name);
    const written = paths(columns);
    const exact = paths(unique);
    const unfilled = laterOf(this, name)?.paths ?? [];
    return {
      name,
      columns: columnsWith(
        written.filter((path) => !unfilled.includes(path)),
        fold,
      ),
      fold,
      written,
      unique: exact,
      deferred,
      pending,
      lagging: pending ? written.filter((path) => !exact.includes(path)) : deferred,
      indexes: this.#indexes(name),
      lookups,
      packed: packedFields(this, name),
    };
  }

  #indexes(name: string): TableIndex[] {
    const rows = this.prepare(
      `SELECT i.name, c.name FROM pragma_index_list(?) i, pragma_index_info(i.name) c WHERE i.origin = 'c'
        ORDER BY i.name, c.seqno`,
    ).all([name]);
    const fields = new Map<string, string[]>();
    for (const [index, column] of rows.map((row) => row.map(String)) as [string, string][]) {
      const path = column === 'id' ? ['id'] : paths([[column]]);
      fields.set(index, [...(fields.get(index) ?? []), ...path]);
    }
    return Array.from(fields, ([label, own]) => ({ paths: own, needed: neededIn(name, label) }));
  }

  /** Runs `work` in one transaction; it has committed, durably, when this returns. Waits for other processes' locks. */
  transaction<V>(work: () => V): V {
    patiently(() => this.prepare('BEGIN IMMEDIATE').run([]));
    try {
      this.#forgetOthers();
      const result = work();
      this.#seen.end();
      patiently(() => this.prepare('COMMIT').run([]));
      return result;
    } catch (error) {
      this.#seen.fail();
      if (this.driver.inTransaction()) this.prepare('ROLLBACK').run([]);
      this.#version = -1;
      this.#forgetDocuments();
      throw error;
    }
  }

  #forgetDocuments(): void {
    this.recent.clear();
    this.ahead.clear();
  }

  /** What another process wrote is read anew, and so are the tables, which only a commit can change. */
  #forgetOthers(): void {
    const [version] = this.prepare('PRAGMA data_version').get([]) ?? [];
    const others = version as number;
    const isAlone = others === this.#seen.others;
    this.#seen.begin(others);
    if (!isAlone) this.#forgetDocuments();
    if (!isAlone || this.#version === -1) this.refresh();
  }

  /** Within a transaction: what `work` wrote is undone when it throws, and nothing else. */
  savepoint<V>(work: () => V): V {
    this.prepare('SAVEPOINT part').run([]);
    try {
      return work();
    } catch (error) {
      this.prepare('ROLLBACK TO part').run([]);
      this.#forgetDocuments();
      throw error;
    } finally {
      this.prepare('RELEASE part').run([]);
    }
  }

  /** After a statement that changed the schema within a transaction. */
  forget(name: string): void {
    this.#tables.delete(name);
    this.#version = -1;
  }

  close(): void {
    this.#statements.clear();
    this.#older.clear();
    this.driver.close();
  }
}

function paths(rows: readonly unknown[][]): string[] {
  return rows.map(([name]) => String(name)).flatMap((name) => (name.startsWith('$.') ? [name.slice(2)] : []));
}

/** Tries again while another process holds the lock; `busy_timeout` does the waiting. @throws the last error */
function patiently(attempt: () => void): void {
  for (let left = BUSY_ATTEMPTS; ; left--) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || left === 1) throw error;
    }
  }
}
