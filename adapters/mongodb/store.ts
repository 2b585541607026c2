/**
 * The DocumentStore on MongoDB 5 to 8 and compatible servers. Writes are acknowledged by a majority, reads go to the
 * primary (a read sees an awaited write); losing the connection is the driver's to retry, and what it gives up is
 * StoreUnavailable.
 */
import { MongoServerError, type Collection as Driver } from 'mongodb';
import type { Collection, CollectionSpec, Doc, DocumentStore } from '../../ports/store.js';
import { MongoCollection } from './collection.js';
import type { KnownIndexes } from './candidates.js';
import type { ConnectionState } from './connection-lines.js';
import { MongoConnection, type ConnectionTimes } from './connection.js';
import { translated } from './errors.js';
import { fillTrigrams } from './fill.js';
import { HIDDEN, pathOf } from './trigrams.js';
import { indexesOf, isOurs, servedBy, type MongoIndex } from './indexes.js';
import type { Stored } from './translate.js';

export interface MongoOptions {
  /** `mongodb://…` or `mongodb+srv://…`; the database is its path, `aos` without one. */
  url: string;
  /** Hears that the server is away, back, asked by a new client, and at last given up. */
  tell?: (state: ConnectionState, cause?: unknown) => void;
  /** Hears how long each operation took that the server answered, in milliseconds. */
  answered?: (ms: number) => void;
  times?: ConnectionTimes;
}

const NAME = /^[a-z][a-z0-9_]*$/;
/**
 * How long an operation waits for a server to write to, in milliseconds; `serverSelectionTimeoutMS` in the URL wins.
 */
const SELECTION_MS = 8_000;
/** Another process is creating the same collection or index right now. */
const BEING_CREATED = new Set<unknown>([48, 85, 117]);

export class MongoStore implements DocumentStore {
  readonly engine = 'mongodb';
  /** A standalone server has no transactions. */
  readonly transact = null;
  readonly #connection: MongoConnection;
  readonly #database: string;
  readonly #writes = new Set<Promise<unknown>>();
  /** The URL says how long to wait. */
  readonly #patient: boolean;
  /** What is known of each collection's indexes: asked once, and again after `ensure`. */
  readonly #known = new Map<string, Promise<KnownIndexes>>();
  readonly #filling = new Map<string, Promise<void>>();
  readonly #end = new AbortController();
  #closed = false;

  /** @throws MongoParseError on a malformed URL */
  constructor({ url, tell, answered, times }: MongoOptions) {
    this.#patient = /[?&]serverSelectionTimeoutMS=/i.test(url);
    const options = {
      ...(this.#patient ? {} : { serverSelectionTimeoutMS: SELECTION_MS }),
      writeConcern: { w: 'majority' },
      readPreference: 'primary',
      appName: 'aos',
    } as const;
    this.#connection = new MongoConnection(url, options, tell, times, answered);
    this.#database = databaseOf(url);
  }

  /** @throws the driver's error, or one that names it when no server answers in time; the client is closed then */
  connect(): Promise<void> {
    return this.#connection.connect(this.#patient);
  }

  /** @throws TypeError on a name that is none */
  collection<T extends Doc>(name: string): Collection<T> {
    if (!NAME.test(name)) throw new TypeError(`not a collection name: ${JSON.stringify(name)}`);
    return new MongoCollection<T>({
      driver: () => this.#driver(name),
      read: (work) => this.#connection.run(work),
      write: (work) => this.#track(() => this.#connection.run(work)),
      known: () => this.#knownOf(name),
    });
  }

  async collections(): Promise<string[]> {
    const list = () => this.#connection.db(this.#database).listCollections({}, { nameOnly: true }).toArray();
    const found = await this.#connection.run(list);
    return found
      .map(({ name }) => name)
      .filter((name) => NAME.test(name))
      .toSorted();
  }

  async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    for (const { name } of specs) this.collection(name);
    for (const spec of specs) {
      const { name } = spec;
      const { own, shared, instead } = indexesOf(spec);
      await this.#createIndexes(name, own);
      const few = shared === null || (await this.#takes(name, shared)) ? shared : null;
      if (few === null) await this.#createIndexes(name, instead);
      await this.#dropOthers(name, [...own, ...(few === null ? instead : [few])]);
      this.#known.delete(name);
      await this.#knownOf(name);
    }
  }

  /** False where the server knows no such index. */
  async #takes(name: string, index: MongoIndex): Promise<boolean> {
    try {
      await this.#createIndexes(name, [index]);
      return true;
    } catch (error) {
      if (error instanceof MongoServerError) return false;
      throw error;
    }
  }

  /**
   * What was made for an earlier declaration goes. A process of the version before goes on meanwhile, with other plans.
   */
  async #dropOthers(name: string, wanted: readonly MongoIndex[]): Promise<void> {
    const names = new Set(wanted.map((index) => index.name));
    const old = (await this.#listIndexes(name)).filter((index) => isOurs(index) && !names.has(index.name));
    for (const index of old) {
      const drop = (): Promise<unknown> => this.#driver(name).dropIndex(index.name).catch(goneAlready);
      await this.#track(() => this.#connection.runLong(drop));
    }
  }

  #listIndexes(name: string): Promise<MongoIndex[]> {
    const list = (): Promise<MongoIndex[]> => this.#driver(name).listIndexes().toArray() as Promise<MongoIndex[]>;
    return this.#connection.run(() => list().catch(noneWithoutCollection));
  }

  #driver(name: string): Driver<Stored> {
    return this.#connection.collection<Stored>(this.#database, name);
  }

  #knownOf(name: string): Promise<KnownIndexes> {
    const asked = this.#known.get(name);
    if (asked !== undefined) return asked;
    const known = this.#askKnown(name);
    this.#known.set(name, known);
    known.catch(() => this.#known.delete(name));
    return known;
  }

  async #askKnown(name: string): Promise<KnownIndexes> {
    const leading = (await this.#listIndexes(name)).flatMap(servedBy);
    const texts = leading.filter((field) => field.startsWith(HIDDEN)).map(pathOf);
    for (const path of texts) this.#fill(name, path);
    return { texts, leading: new Set(leading) };
  }

  #fill(name: string, path: string): void {
    const key = `${name} ${path}`;
    if (this.#closed || this.#filling.has(key)) return;
    const filled = fillTrigrams((step) => this.#connection.run(() => step(this.#driver(name))), path, this.#end.signal);
    this.#filling.set(key, filled);
    void filled.finally(() => this.#filling.delete(key));
  }

  async #createIndexes(name: string, indexes: readonly MongoIndex[]): Promise<void> {
    if (indexes.length === 0) return;
    const create = (): Promise<unknown> =>
      this.#track(() => this.#connection.runLong(() => this.#driver(name).createIndexes([...indexes])));
    try {
      await create();
    } catch (error) {
      if (!(error instanceof MongoServerError) || !BEING_CREATED.has(error.code)) throw translated(error);
      await create();
    }
  }

  ping(): Promise<number> {
    return this.#connection.ping();
  }

  async size(): Promise<number | null> {
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

  /** Nothing begins once the store is closed: a promise that nobody waits for would end the process when it fails. */
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

/** Servers differ: of a collection that is not there, some have no indexes, and some an error (26). */
function noneWithoutCollection(error: unknown): MongoIndex[] {
  if (error instanceof MongoServerError && error.code === 26) return [];
  throw error;
}

/** Another process has dropped it (27). */
function goneAlready(error: unknown): void {
  if (!(error instanceof MongoServerError) || error.code !== 27) throw error;
}

/** The path of the URL. Not by `new URL`: a seed list of several hosts is no URL to it. */
export function databaseOf(url: string): string {
  const path = /^[^/]*\/\/[^/]*\/([^?]*)/.exec(url)?.[1] ?? '';
  return path === '' ? 'aos' : decodeURIComponent(path);
}
