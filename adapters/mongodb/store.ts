/** Writes need a majority and reads go to the primary, so that a read sees every awaited write. */
import { MongoServerError, type Collection as Driver } from 'mongodb';
import type { Collection, CollectionSpec, Doc, DocumentStore } from '../../ports/store/index.js';
import { MongoCollection } from './collection.js';
import type { IndexInfo } from './candidates.js';
import type { ConnectionState } from './connection-logger.js';
import { MongoConnection, type ConnectionTimeouts } from './connection.js';
import { toStoreError } from './errors.js';
import { fillTrigrams } from './trigram-fill.js';
import { HIDDEN_PREFIX, parseTrigramField } from './trigrams.js';
import { buildIndexPlan, isManagedIndex, listServedFields, type MongoIndex } from './indexes.js';
import type { MongoDoc } from './translate.js';

export interface MongoStoreOptions {
  url: string;
  tell?: (state: ConnectionState, cause?: unknown) => void;
  /** Called with the duration of each answered operation in milliseconds. */
  answered?: (ms: number) => void;
  times?: ConnectionTimeouts;
}

const COLLECTION_NAME_PATTERN = /^[a-z][a-z0-9_]*$/;
/** Server selection timeout; `serverSelectionTimeoutMS` in the URL takes precedence. */
const SERVER_SELECTION_TIMEOUT_MS = 8_000;
const BEING_CREATED_CODES = new Set<unknown>([48, 85, 117]);

export class MongoStore implements DocumentStore {
  readonly engine = 'mongodb';
  /** A standalone server has no transactions. */
  readonly transact = null;
  readonly #connection: MongoConnection;
  readonly #database: string;
  readonly #writes = new Set<Promise<unknown>>();
  readonly #hasUrlTimeout: boolean;
  readonly #indexInfo = new Map<string, Promise<IndexInfo>>();
  readonly #filling = new Map<string, Promise<void>>();
  readonly #end = new AbortController();
  #closed = false;

  /** @throws MongoParseError on a malformed URL */
  constructor({ url, tell: onStateChange, answered, times }: MongoStoreOptions) {
    this.#hasUrlTimeout = /[?&]serverSelectionTimeoutMS=/i.test(url);
    const options = {
      ...(this.#hasUrlTimeout ? {} : { serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS }),
      writeConcern: { w: 'majority' },
      readPreference: 'primary',
      appName: 'aos',
    } as const;
    this.#connection = new MongoConnection(url, options, onStateChange, times, answered);
    this.#database = parseDatabaseName(url);
  }

  /**
   * @throws the driver's error, or one that names it when no server answers in time; the client is
   *   then closed
   */
  connect(): Promise<void> {
    return this.#connection.connect(this.#hasUrlTimeout);
  }

  /** @throws TypeError on an invalid name */
  collection<T extends Doc>(name: string): Collection<T> {
    if (!COLLECTION_NAME_PATTERN.test(name)) throw new TypeError(`not a collection name: ${JSON.stringify(name)}`);
    return new MongoCollection<T>({
      getDriver: () => this.#getDriver(name),
      runRead: (work) => this.#connection.run(work),
      runWrite: (work) => this.#track(() => this.#connection.run(work)),
      getIndexInfo: () => this.#getIndexInfo(name),
    });
  }

  async listCollections(): Promise<string[]> {
    const list = () => this.#connection.db(this.#database).listCollections({}, { nameOnly: true }).toArray();
    const found = await this.#connection.run(list);
    return found
      .map(({ name }) => name)
      .filter((name) => COLLECTION_NAME_PATTERN.test(name))
      .toSorted();
  }

  async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    for (const { name } of specs) this.collection(name);
    for (const spec of specs) {
      const { name } = spec;
      const { own, shared, instead } = buildIndexPlan(spec);
      await this.#createIndexes(name, own);
      const few = shared === null || (await this.#tryCreateIndex(name, shared)) ? shared : null;
      if (few === null) await this.#createIndexes(name, instead);
      await this.#dropStaleIndexes(name, [...own, ...(few === null ? instead : [few])]);
      this.#indexInfo.delete(name);
      await this.#getIndexInfo(name);
    }
  }

  async #tryCreateIndex(name: string, index: MongoIndex): Promise<boolean> {
    try {
      await this.#createIndexes(name, [index]);
      return true;
    } catch (error) {
      if (error instanceof MongoServerError) return false;
      throw error;
    }
  }

  /** Drops indexes of earlier declarations. */
  async #dropStaleIndexes(name: string, wanted: readonly MongoIndex[]): Promise<void> {
    const names = new Set(wanted.map((index) => index.name));
    const old = (await this.#listIndexes(name)).filter((index) => isManagedIndex(index) && !names.has(index.name));
    for (const index of old) {
      const drop = (): Promise<unknown> => this.#getDriver(name).dropIndex(index.name).catch(ignoreMissingIndex);
      await this.#track(() => this.#connection.runLong(drop));
    }
  }

  #listIndexes(name: string): Promise<MongoIndex[]> {
    const list = (): Promise<MongoIndex[]> => this.#getDriver(name).listIndexes().toArray() as Promise<MongoIndex[]>;
    return this.#connection.run(() => list().catch(ignoreMissingCollection));
  }

  #getDriver(name: string): Driver<MongoDoc> {
    return this.#connection.collection<MongoDoc>(this.#database, name);
  }

  #getIndexInfo(name: string): Promise<IndexInfo> {
    const cached = this.#indexInfo.get(name);
    if (cached !== undefined) return cached;
    const known = this.#loadIndexInfo(name);
    this.#indexInfo.set(name, known);
    known.catch(() => this.#indexInfo.delete(name));
    return known;
  }

  async #loadIndexInfo(name: string): Promise<IndexInfo> {
    const leading = (await this.#listIndexes(name)).flatMap(listServedFields);
    const texts = leading.filter((field) => field.startsWith(HIDDEN_PREFIX)).map(parseTrigramField);
    for (const path of texts) this.#startTrigramFill(name, path);
    return { texts, leading: new Set(leading) };
  }

  #startTrigramFill(name: string, path: string): void {
    const key = `${name} ${path}`;
    if (this.#closed || this.#filling.has(key)) return;
    const filled = fillTrigrams(
      (step) => this.#connection.run(() => step(this.#getDriver(name))),
      path,
      this.#end.signal,
    );
    this.#filling.set(key, filled);
    void filled.finally(() => this.#filling.delete(key));
  }

  async #createIndexes(name: string, indexes: readonly MongoIndex[]): Promise<void> {
    if (indexes.length === 0) return;
    const create = (): Promise<unknown> =>
      this.#track(() => this.#connection.runLong(() => this.#getDriver(name).createIndexes([...indexes])));
    try {
      await create();
    } catch (error) {
      if (!(error instanceof MongoServerError) || !BEING_CREATED_CODES.has(error.code)) throw toStoreError(error);
      await create();
    }
  }

  ping(): Promise<number> {
    return this.#connection.ping();
  }

  async getSize(): Promise<number | null> {
    const { storageSize, indexSize } = await this.#connection.run(() =>
      this.#connection.db(this.#database).command({ dbStats: 1 }),
    );
    const bytes = Number(storageSize) + Number(indexSize);
    return Number.isFinite(bytes) && bytes > 0 ? bytes : null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#end.abort();
    await Promise.allSettled([...this.#writes, ...this.#filling.values()]);
    await this.#connection.close();
  }

  /** Nothing starts after the store is closed: an unhandled rejection would end the process. */
  async #track<V>(work: () => Promise<V>): Promise<V> {
    if (this.#closed) throw new Error('the store is closed');
    const begun = work();
    this.#writes.add(begun);
    try {
      return await begun;
    } finally {
      this.#writes.delete(begun);
    }
  }
}

/** For a missing collection some servers return no indexes and others error 26. */
function ignoreMissingCollection(error: unknown): MongoIndex[] {
  if (error instanceof MongoServerError && error.code === 26) return [];
  throw error;
}

/** Another process has dropped it (27). */
function ignoreMissingIndex(error: unknown): void {
  if (!(error instanceof MongoServerError) || error.code !== 27) throw error;
}

/** Returns the database in the URL's path. */
export function parseDatabaseName(url: string): string {
  const path = /^[^/]*\/\/[^/]*\/([^?]*)/.exec(url)?.[1] ?? '';
  return path === '' ? 'aos' : decodeURIComponent(path);
}
