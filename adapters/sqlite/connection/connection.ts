/**
 * One connection to the file with pragmas, cached prepared statements and table descriptions. Index
 * columns are read from the schema again whenever its version changes. A process that runs during
 * another's migration thus never writes a row without the new columns.
 */
import { isBusyError, MAX_PAGE_ROWS, type Driver, type Statement, type SqlValue } from '../driver/driver.js';
import { openDriver } from '../driver/open.js';
import { describeTable, type Table } from './table.js';

const MAX_STATEMENTS = 400;
const BUSY_TIMEOUT_MS = 5_000;
const MAX_BUSY_ATTEMPTS = 6;
/** Small, because the operating system caches hot pages as well. */
const CACHE_KB = 4_000;
/** A log of 16 MB: hot pages are copied to the file less often. */
const CHECKPOINT_PAGES = 4_000;
/** The log is truncated to this size after a long read, such as a backup, has let it grow. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;

export interface ConnectionOptions {
  path: string;
  durability: 'full' | 'normal';
  checkpoints?: 'service' | 'external';
}

export class Connection {
  readonly driver: Driver;
  /**
   * Two generations: one map that moves each used statement to its end would make V8 rebuild it and
   * retain old entries.
   */
  #statements = new Map<string, Statement>();
  #older = new Map<string, Statement>();
  readonly #tables = new Map<string, Table | null>();
  /**
   * The last transaction failed on the disk; until one succeeds, a ping writes too
   * (`checkWritable`).
   */
  isWriteDoubtful = false;
  #version = -1;

  /** @param busyMs wait for a lock */
  constructor(
    { path, durability, checkpoints }: ConnectionOptions,
    { busyMs = BUSY_TIMEOUT_MS, cacheKb = CACHE_KB } = {},
  ) {
    this.driver = openDriver(path);
    this.driver.exec(`PRAGMA busy_timeout = ${busyMs}`);
    // The switch to WAL does not wait when two processes create the file concurrently.
    retryWhileBusy(() => this.driver.exec('PRAGMA journal_mode = WAL'));
    this.driver.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`);
    this.driver.exec('PRAGMA temp_store = MEMORY');
    this.driver.exec(`PRAGMA cache_size = -${cacheKb}`);
    this.driver.exec(`PRAGMA wal_autocheckpoint = ${checkpoints === 'external' ? 0 : CHECKPOINT_PAGES}`);
    this.driver.exec(`PRAGMA journal_size_limit = ${MAX_LOG_BYTES}`);
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

  selectRows(sql: string, values: readonly SqlValue[], rows: number): SqlValue[][] {
    const statement = this.prepare(sql);
    return rows <= MAX_PAGE_ROWS ? statement.page(values) : statement.all(values);
  }

  /** Call once per transaction, or before a read outside of one. */
  refreshSchema(): void {
    const [version] = this.prepare('PRAGMA schema_version').get([]) ?? [];
    if (version === this.#version) return;
    this.#version = version as number;
    this.#tables.clear();
  }

  getTable(name: string): Table | null {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = describeTable(this, name);
      this.#tables.set(name, table);
    }
    return table;
  }

  /** Runs `work` in one durable transaction. Waits for locks of other processes. */
  runTransaction<V>(work: () => V): V {
    retryWhileBusy(() => this.prepare('BEGIN IMMEDIATE').run([]));
    try {
      this.refreshSchema();
      const result = work();
      retryWhileBusy(() => this.prepare('COMMIT').run([]));
      return result;
    } catch (error) {
      if (this.driver.isInTransaction()) this.prepare('ROLLBACK').run([]);
      this.#version = -1;
      throw error;
    }
  }

  /** Rolls back only what `work` wrote. */
  runSavepoint<V>(work: () => V): V {
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

  /**
   * Rewrites a page with its own content.
   * @throws the driver's error when nothing can be written
   */
  checkWritable(): void {
    const [version = 0] = this.prepare('PRAGMA user_version').get([]) ?? [];
    this.driver.exec(`PRAGMA user_version = ${Number(version)}`);
  }

  forgetTable(name: string): void {
    this.#tables.delete(name);
    this.#version = -1;
  }

  close(): void {
    this.#statements.clear();
    this.#older.clear();
    this.driver.close();
  }
}

/**
 * Retries while another process holds the lock; `busy_timeout` does the waiting.
 * @throws the last error
 */
function retryWhileBusy(attempt: () => void): void {
  for (let left = MAX_BUSY_ATTEMPTS; ; left--) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusyError(error) || left === 1) throw error;
    }
  }
}
