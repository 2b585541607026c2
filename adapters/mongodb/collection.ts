/** Each method is one command, or a few that keep the port's guarantees on a standalone server. */
import type { Collection as Driver } from 'mongodb';
import { toAfterFilters, decodeCursor, resolvePageLimit, toPage } from '../../ports/cursor.js';
import { applyUpdate, stringifyJson, toPlainUpdate, buildSeed } from '../../ports/document.js';
import {
  StoreConflict,
  type ChangeOptions,
  type ChangeResult,
  type Collection,
  type Doc,
  type Filter,
  type FindQuery,
  type Page,
  type Scalar,
  type Update,
  type WriteOp,
  type WriteResult,
} from '../../ports/store/index.js';
import { findCandidateIds, type IndexInfo } from './candidates.js';
import { toStoreError } from './errors.js';
import { CallBatcher } from './gathering.js';
import { getAll, insertAll, putAll } from './batch-commands.js';
import {
  toFieldName,
  fromChanged,
  fromStored,
  isNeverQuery,
  getNamedIds,
  toQuery,
  toSort,
  toStored,
  toUpdate,
  toUpsert,
  buildProjection,
  type MongoQuery,
  type MongoDoc,
} from './translate.js';

const MAX_UPSERT_ATTEMPTS = 3;
const STEP_DOCUMENTS = 1000;
/**
 * Concurrent changes and removals of one bulk. Each is a separate command, to get its own result.
 */
const MAX_CONCURRENT_WRITES = 16;

export interface CollectionAccess {
  getDriver(): Driver<MongoDoc>;
  runRead<V>(work: () => Promise<V>): Promise<V>;
  /** Rejects new writes once the store is closing. */
  runWrite<V>(work: () => Promise<V>): Promise<V>;
  getIndexInfo(): Promise<IndexInfo>;
}

export class MongoCollection<T extends Doc> implements Collection<T> {
  readonly #calls: CollectionAccess;
  readonly #gets: CallBatcher<string, MongoDoc | null>;
  readonly #inserts: CallBatcher<MongoDoc, void>;
  readonly #puts: CallBatcher<MongoDoc, void>;

  constructor(calls: CollectionAccess) {
    this.#calls = calls;
    this.#gets = new CallBatcher(
      async (id) => this.#driver.findOne({ _id: id }, buildProjection(await this.#getTextPaths())),
      async (ids) => getAll(this.#driver, ids, buildProjection(await this.#getTextPaths())),
    );
    this.#inserts = new CallBatcher(
      async (doc) => void (await this.#driver.insertOne(doc)),
      (docs) => insertAll(this.#driver, docs),
    );
    this.#puts = new CallBatcher(
      async (doc) => void (await this.#driver.replaceOne({ _id: doc._id }, doc, { upsert: true })),
      (docs) => putAll(this.#driver, docs),
    );
  }

  get #driver(): Driver<MongoDoc> {
    return this.#calls.getDriver();
  }

  async get(id: string): Promise<T | null> {
    const stored = await this.#read(() => this.#gets.call(id));
    return stored && (fromStored(stored) as T);
  }

  async find(query: FindQuery = {}): Promise<Page<T>> {
    const sort = query.sort ?? [];
    const limit = resolvePageLimit(query.limit);
    const stretches = typeof query.after === 'string' ? toAfterFilters(sort, decodeCursor(sort, query.after)) : [{}];
    const narrowed = await this.#narrowFilter(query.filter);
    // By id, because a document that moves between two stretches would appear twice.
    const found = new Map<string, MongoDoc>();
    for (const stretch of stretches) {
      if (found.size > limit) break;
      const filter = toQuery(...narrowed, stretch);
      for (const stored of await this.#findRows(filter, sort, limit + 1 - found.size)) {
        if (!found.has(stored._id)) found.set(stored._id, stored);
      }
    }
    return toPage(
      sort,
      [...found.values()].map((stored) => fromStored(stored) as T),
      limit,
    );
  }

  async #findRows(filter: MongoQuery, sort: FindQuery['sort'], limit: number): Promise<MongoDoc[]> {
    if (isNeverQuery(filter)) return [];
    return this.#read(async () => {
      const options = { sort: toSort(sort), limit, batchSize: limit, ...buildProjection(await this.#getTextPaths()) };
      return this.#driver.find(filter, options).toArray();
    });
  }

  async count(filter: Filter = {}): Promise<number> {
    const narrowed = await this.#narrowFilter(filter);
    return this.#read(() => this.#driver.countDocuments(toQuery(...narrowed)));
  }

  async #getTextPaths(): Promise<readonly string[]> {
    return (await this.#calls.getIndexInfo()).texts;
  }

  #narrowFilter(filter: Filter = {}): Promise<Filter[]> {
    return this.#read(async () => {
      const known = await this.#calls.getIndexInfo();
      const ids = known.texts.length === 0 ? null : await findCandidateIds(this.#driver, known, filter);
      return ids === null ? [filter] : [filter, { id: { in: ids } }];
    });
  }

  async groupCount(path: string, filter: Filter = {}): Promise<{ key: Scalar; n: number }[]> {
    const stages = [{ $match: toQuery(filter) }, { $group: { _id: `$${toFieldName(path)}`, n: { $sum: 1 } } }];
    const groups = await this.#read(() =>
      this.#driver.aggregate<{ _id: Scalar | undefined; n: number }>(stages).toArray(),
    );
    const counts = new Map<Scalar, number>();
    for (const { _id: key = null, n } of groups) counts.set(key, (counts.get(key) ?? 0) + n);
    return [...counts].map(([key, n]) => ({ key, n }));
  }

  async insert(doc: T): Promise<void> {
    await this.#write(async () => this.#inserts.call(toStored(doc, await this.#getTextPaths())));
  }

  async change(filter: Filter, update: Update, options: ChangeOptions = {}): Promise<ChangeResult<T> | null> {
    const plain = toPlainUpdate(update);
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#changeOnce(filter, plain, options)) as ChangeResult<T> | null;
      } catch (error) {
        // Created concurrently: retry as a change, unless the document does not match the filter.
        const again = options.upsert === true && error instanceof StoreConflict && error.index === 'id';
        if (!again || attempt === MAX_UPSERT_ATTEMPTS) throw error;
      }
    }
  }

  async #changeOnce(filter: Filter, update: Update, options: ChangeOptions): Promise<ChangeResult<Doc> | null> {
    if (options.upsert && isById(filter) && (await this.#read(() => this.#getTextPaths())).length === 0) {
      const operators = toUpsert(update);
      if (Object.keys(operators).length > 0) return this.#upsert(filter.id, operators);
    }
    const stored = await this.#changeOne(filter, update, options);
    if (stored) return { doc: fromChanged(stored), created: false };
    return options.upsert ? { doc: await this.#create(filter, update), created: true } : null;
  }

  async #changeOne(filter: Filter, update: Update, { sort }: ChangeOptions): Promise<MongoDoc | null> {
    const texts = await this.#read(() => this.#getTextPaths());
    const operators = toUpdate(update, texts);
    const query = toQuery(...(typeof filter['id'] === 'string' ? [filter] : await this.#narrowFilter(filter)));
    const options = { sort: toSort(sort), ...buildProjection(texts) };
    if (Object.keys(operators).length === 0) return this.#read(() => this.#driver.findOne(query, options));
    return this.#write(() => this.#driver.findOneAndUpdate(query, operators, { ...options, returnDocument: 'after' }));
  }

  /** One command: MongoDB builds the document from the id and the update, as `applyUpdate` does. */
  async #upsert(id: string, operators: MongoQuery): Promise<ChangeResult<Doc>> {
    const options = { upsert: true, returnDocument: 'after', includeResultMetadata: true } as const;
    const done = await this.#write(() => this.#driver.findOneAndUpdate({ _id: id }, operators, options));
    return { doc: fromChanged(done.value as MongoDoc), created: done.lastErrorObject?.['updatedExisting'] !== true };
  }

  /**
   * Not `upsert: true`, which would store the filter's nulls; trigrams also need the complete
   * document.
   */
  async #create(filter: Filter, update: Update): Promise<T> {
    const doc = applyUpdate(buildSeed(filter), JSON.parse(stringifyJson(update)) as Update, true) as T;
    await this.insert(doc);
    return JSON.parse(stringifyJson(doc)) as T;
  }

  async changeMany(filter: Filter, update: Update, limit?: number): Promise<number> {
    const operators = toUpdate(toPlainUpdate(update), await this.#read(() => this.#getTextPaths()));
    if (Object.keys(operators).length === 0) return Math.min(limit ?? Infinity, await this.count(filter));
    const ids = limit === undefined ? getNamedIds(filter) : null;
    if (ids !== null) return this.#changeByIds(ids, filter, operators);
    return this.#writeInSteps(
      filter,
      limit,
      async (query) => (await this.#driver.updateMany(query, operators)).matchedCount,
    );
  }

  /** One command with a statement per document, which the driver may safely retry. */
  async #changeByIds(ids: readonly string[], filter: Filter, operators: MongoQuery): Promise<number> {
    if (isNeverQuery(toQuery(filter))) return 0;
    const { id: _, ...rest } = filter;
    const writes = ids.map((id) => ({ updateOne: { filter: toQuery({ id }, rest), update: operators } }));
    return this.#write(async () => (await this.#driver.bulkWrite(writes, { ordered: false })).matchedCount);
  }

  async remove(filter: Filter, limit?: number): Promise<number> {
    return this.#writeInSteps(filter, limit, async (query) => (await this.#driver.deleteMany(query)).deletedCount);
  }

  /**
   * Works in steps, because one command over many documents would exceed its deadline. Each step
   * reads ids after those of the last and writes those that still match, so that no document is
   * written twice.
   */
  async #writeInSteps(
    filter: Filter,
    limit = Infinity,
    write: (query: MongoQuery) => Promise<number>,
  ): Promise<number> {
    if (limit < 1 || isNeverQuery(toQuery(filter))) return 0;
    if (typeof filter['id'] === 'string') return this.#write(() => write(toQuery(filter)));
    let n = 0;
    let last: string | null = '';
    for (let left = limit; left > 0 && last !== null; left -= STEP_DOCUMENTS) {
      const ids = await this.#findIdsAfter(last, filter, Math.min(STEP_DOCUMENTS, left));
      if (ids.length > 0) n += await this.#write(() => write(toQuery({ id: { in: ids } }, filter)));
      last = ids.length < STEP_DOCUMENTS ? null : (ids.at(-1) ?? null);
    }
    return n;
  }

  async #findIdsAfter(last: string, filter: Filter, limit: number): Promise<string[]> {
    const query = last === '' ? toQuery(filter) : toQuery({ id: { gt: last } }, filter);
    const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit, batchSize: limit } as const;
    const rows = await this.#read(() => this.#driver.find(query, options).toArray());
    return rows.map(({ _id }) => _id);
  }

  /** Inserts and puts take one command each. */
  async bulk(ops: readonly WriteOp<T>[]): Promise<WriteResult[]> {
    const results: WriteResult[] = ops.map(() => ({ n: 0 }));
    const settle = async (op: WriteOp<T>, i: number): Promise<void> => void (results[i] = await this.#runOperation(op));
    const others = [...ops.entries()].filter(([, op]) => !isBatched(op))[Symbol.iterator]();
    const work = async (): Promise<void> => {
      for (const [i, op] of others) await settle(op, i);
    };
    const gathered = ops.map(async (op, i) => (isBatched(op) ? settle(op, i) : undefined));
    await Promise.all([...gathered, ...Array.from({ length: Math.min(MAX_CONCURRENT_WRITES, ops.length) }, work)]);
    return results;
  }

  async #runOperation(op: WriteOp<T>): Promise<WriteResult> {
    try {
      if ('insert' in op) await this.insert(op.insert);
      else if ('put' in op) await this.#put(op.put);
      else if ('remove' in op) return { n: await this.remove(op.remove) };
      else return { n: (await this.change(op.change, op.update, { upsert: op.upsert ?? false })) ? 1 : 0 };
      return { n: 1 };
    } catch (error) {
      if (error instanceof StoreConflict) return { conflict: error.index };
      throw error;
    }
  }

  async #put(doc: T): Promise<void> {
    const stored = toStored(doc, await this.#read(() => this.#getTextPaths()));
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#write(() => this.#puts.call(stored));
        return;
      } catch (error) {
        // Two concurrent upserts of one id: the second finds the document on retry.
        if (!(error instanceof StoreConflict) || error.index !== 'id' || attempt === MAX_UPSERT_ATTEMPTS) throw error;
      }
    }
  }

  async #read<V>(work: () => Promise<V>): Promise<V> {
    try {
      return await this.#calls.runRead(work);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async #write<V>(work: () => Promise<V>): Promise<V> {
    try {
      return await this.#calls.runWrite(work);
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

const isById = (filter: Filter): filter is { id: string } =>
  typeof filter['id'] === 'string' && Object.keys(filter).length === 1;

const isBatched = <T extends Doc>(op: WriteOp<T>): boolean => 'insert' in op || 'put' in op;
