/**
 * A collection of MongoDB: each method is one command, or a few that keep the port's promise on a standalone server.
 */
import { MongoBulkWriteError, type Collection as Driver } from 'mongodb';
import { afterStretches, decodeCursor, pageLimit, toPage } from '../../ports/cursor.js';
import { applyUpdate, jsonText, plainUpdate, seedOf } from '../../ports/document.js';
import {
  StoreConflict,
  type ChangeOptions,
  type Changed,
  type Collection,
  type Doc,
  type Filter,
  type Find,
  type Page,
  type Scalar,
  type Update,
  type WriteOp,
  type WriteResult,
} from '../../ports/store.js';
import { candidatesOf, type KnownIndexes } from './candidates.js';
import { DUPLICATE_KEY, translated } from './errors.js';
import {
  conflictOf,
  fieldName,
  fromStored,
  toQuery,
  toSort,
  toStored,
  toUpdate,
  visible,
  type Query,
  type Stored,
} from './translate.js';

const UPSERT_ATTEMPTS = 3;
/** Ids in one command. */
const CHUNK = 1000;
/** Operations of one bulk under way at a time. */
const CONCURRENCY = 16;

/** How a collection reaches the server. */
export interface Calls {
  /** Of the client that serves now. */
  driver(): Driver<Stored>;
  read<V>(work: () => Promise<V>): Promise<V>;
  /** A write that the store's end waits for; none begins after it. */
  write<V>(work: () => Promise<V>): Promise<V>;
  /** What the server says of the collection's indexes; asked once. */
  known(): Promise<KnownIndexes>;
}

export class MongoCollection<T extends Doc> implements Collection<T> {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  get #driver(): Driver<Stored> {
    return this.#calls.driver();
  }

  async get(id: string): Promise<T | null> {
    const stored = await this.#read(async () => this.#driver.findOne({ _id: id }, visible(await this.#texts())));
    return stored && (fromStored(stored) as T);
  }

  async find(query: Find = {}): Promise<Page<T>> {
    const sort = query.sort ?? [];
    const limit = pageLimit(query.limit);
    const stretches = typeof query.after === 'string' ? afterStretches(sort, decodeCursor(sort, query.after)) : [{}];
    const narrowed = await this.#narrowed(query.filter);
    // By id, because a document that moves between two stretches would be seen twice.
    const found = new Map<string, Stored>();
    for (const stretch of stretches) {
      if (found.size > limit) break;
      const filter = toQuery(...narrowed, stretch);
      for (const stored of await this.#rows(filter, sort, limit + 1 - found.size)) {
        if (!found.has(stored._id)) found.set(stored._id, stored);
      }
    }
    return toPage(
      sort,
      [...found.values()].map((stored) => fromStored(stored) as T),
      limit,
    );
  }

  #rows(filter: Query, sort: Find['sort'], limit: number): Promise<Stored[]> {
    return this.#read(async () => {
      const options = { sort: toSort(sort), limit, batchSize: limit, ...visible(await this.#texts()) };
      return this.#driver.find(filter, options).toArray();
    });
  }

  async count(filter: Filter = {}): Promise<number> {
    const narrowed = await this.#narrowed(filter);
    return this.#read(() => this.#driver.countDocuments(toQuery(...narrowed)));
  }

  async #texts(): Promise<readonly string[]> {
    return (await this.#calls.known()).texts;
  }

  /** The filter, and the few documents that can match it where a text names them. */
  #narrowed(filter: Filter = {}): Promise<Filter[]> {
    return this.#read(async () => {
      const known = await this.#calls.known();
      const ids = known.texts.length === 0 ? null : await candidatesOf(this.#driver, known, filter);
      return ids === null ? [filter] : [filter, { id: { in: ids } }];
    });
  }

  async groupCount(path: string, filter: Filter = {}): Promise<{ key: Scalar; n: number }[]> {
    const stages = [{ $match: toQuery(filter) }, { $group: { _id: `$${fieldName(path)}`, n: { $sum: 1 } } }];
    const groups = await this.#read(() =>
      this.#driver.aggregate<{ _id: Scalar | undefined; n: number }>(stages).toArray(),
    );
    const counts = new Map<Scalar, number>();
    for (const { _id: key = null, n } of groups) counts.set(key, (counts.get(key) ?? 0) + n);
    return [...counts].map(([key, n]) => ({ key, n }));
  }

  async insert(doc: T): Promise<void> {
    await this.#write(async () => this.#driver.insertOne(toStored(doc, await this.#texts())));
  }

  async change(filter: Filter, update: Update, options: ChangeOptions = {}): Promise<Changed<T> | null> {
    const plain = plainUpdate(update);
    for (let attempt = 1; ; attempt++) {
      const stored = await this.#changeOne(filter, plain, options);
      if (stored) return { doc: fromStored(stored) as T, created: false };
      if (!options.upsert) return null;
      try {
        return { doc: await this.#create(filter, plain), created: true };
      } catch (error) {
        // Someone created it first: then it can be changed, unless it does not match the filter.
        if (!(error instanceof StoreConflict) || error.index !== 'id' || attempt === UPSERT_ATTEMPTS) throw error;
      }
    }
  }

  async #changeOne(filter: Filter, update: Update, { sort }: ChangeOptions): Promise<Stored | null> {
    const texts = await this.#read(() => this.#texts());
    const operators = toUpdate(update, texts);
    const query = toQuery(...(typeof filter['id'] === 'string' ? [filter] : await this.#narrowed(filter)));
    const options = { sort: toSort(sort), ...visible(texts) };
    if (Object.keys(operators).length === 0) return this.#read(() => this.#driver.findOne(query, options));
    return this.#write(() => this.#driver.findOneAndUpdate(query, operators, { ...options, returnDocument: 'after' }));
  }

  /** Rejected: `upsert: true`, which stores the filter's nulls and knows no reference semantics. */
  async #create(filter: Filter, update: Update): Promise<T> {
    const doc = applyUpdate(seedOf(filter), JSON.parse(jsonText(update)) as Update, true) as T;
    await this.insert(doc);
    return JSON.parse(jsonText(doc)) as T;
  }

  async changeMany(filter: Filter, update: Update, limit?: number): Promise<number> {
    const operators = toUpdate(plainUpdate(update), await this.#read(() => this.#texts()));
    if (Object.keys(operators).length === 0) return Math.min(limit ?? Infinity, await this.count(filter));
    return this.#many(filter, limit, async (query) => (await this.#driver.updateMany(query, operators)).matchedCount);
  }

  async remove(filter: Filter, limit?: number): Promise<number> {
    return this.#many(filter, limit, async (query) => (await this.#driver.deleteMany(query)).deletedCount);
  }

  /** With a limit: finds the ids first, then writes those that still match. */
  async #many(filter: Filter, limit: number | undefined, write: (query: Query) => Promise<number>): Promise<number> {
    if (limit === undefined) return this.#write(() => write(toQuery(filter)));
    if (limit < 1) return 0;
    const rows = await this.#read(() =>
      this.#driver.find(toQuery(filter), { projection: { _id: 1 }, sort: { _id: 1 }, limit }).toArray(),
    );
    let n = 0;
    for (let i = 0; i < rows.length; i += CHUNK) {
      const ids = rows.slice(i, i + CHUNK).map((row) => row._id);
      n += await this.#write(() => write(toQuery({ id: { in: ids } }, filter)));
    }
    return n;
  }

  /** Inserts travel as one command; the rest side by side, because only single commands report what each one did. */
  async bulk(ops: readonly WriteOp<T>[]): Promise<WriteResult[]> {
    const results: WriteResult[] = ops.map(() => ({ n: 1 }));
    const texts = await this.#read(() => this.#texts());
    const inserts = ops.flatMap((op, i) => ('insert' in op ? [{ i, doc: toStored(op.insert, texts) }] : []));
    for (const [at, conflict] of await this.#insertAll(inserts.map(({ doc }) => doc))) {
      results[(inserts[at] as { i: number }).i] = { conflict };
    }
    const others = ops.flatMap((op, i) => ('insert' in op ? [] : [{ op, i }]))[Symbol.iterator]();
    const work = async (): Promise<void> => {
      for (const { op, i } of others) results[i] = await this.#bulkOp(op);
    };
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, ops.length) }, work));
    return results;
  }

  /** Which of `docs` conflicted, and with which index. */
  async #insertAll(docs: Stored[]): Promise<[at: number, conflict: string][]> {
    if (docs.length === 0) return [];
    try {
      await this.#calls.write(() => this.#driver.insertMany(docs, { ordered: false }));
      return [];
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError)) throw translated(error);
      const errors = [error.writeErrors].flat();
      if (errors.length === 0 || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw translated(error);
      return errors.map(({ index, errmsg = '', err }) => {
        const keyPattern = (err as { keyPattern?: object }).keyPattern;
        return [index, conflictOf({ keyPattern, message: errmsg })];
      });
    }
  }

  async #bulkOp(op: Exclude<WriteOp<T>, { insert: T }>): Promise<WriteResult> {
    try {
      if ('remove' in op) return { n: await this.remove(op.remove) };
      if ('put' in op) return await this.#put(op.put);
      return { n: (await this.change(op.change, op.update, { upsert: op.upsert ?? false })) ? 1 : 0 };
    } catch (error) {
      if (error instanceof StoreConflict) return { conflict: error.index };
      throw error;
    }
  }

  async #put(doc: T): Promise<WriteResult> {
    const stored = toStored(doc, await this.#texts());
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#write(() => this.#driver.replaceOne({ _id: stored._id }, stored, { upsert: true }));
        return { n: 1 };
      } catch (error) {
        // Two upserts of one id: the second one finds the document then.
        if (!(error instanceof StoreConflict) || error.index !== 'id' || attempt === UPSERT_ATTEMPTS) throw error;
      }
    }
  }

  async #read<V>(work: () => Promise<V>): Promise<V> {
    try {
      return await this.#calls.read(work);
    } catch (error) {
      throw translated(error);
    }
  }

  async #write<V>(work: () => Promise<V>): Promise<V> {
    try {
      return await this.#calls.write(work);
    } catch (error) {
      throw translated(error);
    }
  }
}
