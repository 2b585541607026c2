/**
 * One connection to the file: pragmas, prepared statements (the least recently used one goes first), and what is
 * known of the tables. Which paths have an index column is read from the schema itself and again whenever its version
 * changed, so a process that runs while another one migrates never writes a row without its new columns.
 */
import { isBusy, PAGE_ROWS, type Driver, type Statement, type Value } from '../driver/driver.js';
import { openDriver } from '../driver/open.js';
import { describe, type Table } from './table.js';

const MAX_STATEMENTS = 400;
/** Milliseconds of one wait for another process's lock; SQLite polls. */
const BUSY_MS = 5_000;
const BUSY_ATTEMPTS = 6;
/** Kilobytes of pages that a connection keeps: the system's cache has hot pages as well. */
const CACHE_KB = 4_000;
/**
 * A 16 MB log: hot pages are copied to the file once in a while rather than every few commits (1,000 was 1.1 to 1.8
 * times slower).
 */
const CHECKPOINT_PAGES = 4_000;
/** The log is cut to this size again after a long reading, such as a backup, has let it grow. */
const LOG_BYTES = 64 * 1024 * 1024;

export interface ConnectionOptions {
  path: string;
  durability: 'full' | 'normal';
}

export class Connection {
  readonly driver: Driver;
  /**
   * Statements used lately, and those of the generation before. Rejected: one map in which each use moves its
   * statement to the end. V8 makes such a map anew again and again, and keeps what hangs on the old ones.
   */
  #statements = new Map<string, Statement>();
  #older = new Map<string, Statement>();
  readonly #tables = new Map<string, Table | null>();
  /** The disk refused the last transaction: until it takes one, a ping writes too (`proveWritable`). */
  doubtful = false;
  #version = -1;

  /** @param busyMs how long a statement waits for a lock before it fails as busy */
  constructor({ path, durability }: ConnectionOptions, { busyMs = BUSY_MS, cacheKb = CACHE_KB } = {}) {
    this.driver = openDriver(path);
    this.driver.exec(`PRAGMA busy_timeout = ${busyMs}`);
    // Two processes that make a new file at once: the switch to WAL does not wait for a lock by itself.
    patiently(() => this.driver.exec('PRAGMA journal_mode = WAL'));
    this.driver.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`);
    this.driver.exec('PRAGMA temp_store = MEMORY');
    this.driver.exec(`PRAGMA cache_size = -${cacheKb}`);
    this.driver.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    this.driver.exec(`PRAGMA journal_size_limit = ${LOG_BYTES}`);
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

  /** The rows of a SELECT that finds `rows` at the most. */
  rows(sql: string, values: readonly Value[], rows: number): Value[][] {
    const statement = this.prepare(sql);
    return rows <= PAGE_ROWS ? statement.page(values) : statement.all(values);
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
      table = describe(this, name);
      this.#tables.set(name, table);
    }
    return table;
  }

  /** Runs `work` in one transaction; it has committed, durably, when this returns. Waits for other processes' locks. */
  transaction<V>(work: () => V): V {
    patiently(() => this.prepare('BEGIN IMMEDIATE').run([]));
    try {
      this.refresh();
      const result = work();
      patiently(() => this.prepare('COMMIT').run([]));
      return result;
    } catch (error) {
      if (this.driver.inTransaction()) this.prepare('ROLLBACK').run([]);
      this.#version = -1;
      throw error;
    }
  }

  /** Within a transaction: what `work` wrote is undone when it throws, and nothing else. */
  savepoint<V>(work: () => V): V {
    this.prepare('SAVEPOINT part').run([]);
    try {
      return work();
    } catch (error) {
      this.prepare('ROLLBACK TO part').run([]);
      throw error;
    } finally {
      this.prepare('RELEASE part').run([]);
    }
  }

  /** Within a transaction: writes a page, with what is in it. @throws the driver's error when nothing can be written */
  proveWritable(): void {
    const [version = 0] = this.prepare('PRAGMA user_version').get([]) ?? [];
    this.driver.exec(`PRAGMA user_version = ${Number(version)}`);
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
