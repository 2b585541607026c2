/**
 * A collection in memory. Methods run synchronously and are therefore atomic. Documents pass
 * through JSON, so that callers never share objects with the store and lose the same values as with
 * other engines.
 */
import { toAfterFilters, decodeCursor, resolvePageLimit, toPage } from '../../ports/cursor.js';
import {
  applyUpdate,
  checkPath,
  compareDocs,
  stringifyJson,
  matchesFilter,
  toPlainUpdate,
  buildSeed,
  splitBytes,
  toTotalSort,
  getUniqueValue,
  getPathValue,
  attachBytes,
} from '../../ports/document.js';
import {
  StoreConflict,
  type ChangeOptions,
  type ChangeResult,
  type Collection,
  type Doc,
  type Filter,
  type FindQuery,
  type IndexSpec,
  type Page,
  type Scalar,
  type Sort,
  type TransactionWrite,
  type Update,
  type WriteOp,
  type WriteResult,
} from '../../ports/store/index.js';

function cloneJson<V>(value: V): V {
  return JSON.parse(stringifyJson(value)) as V;
}

export class MemoryCollection<T extends Doc> implements Collection<T> {
  readonly #docs = new Map<string, T>();
  /** The field that holds bytes, and their values by id. */
  #bytesField: string | undefined;
  readonly #bytes = new Map<string, Uint8Array>();
  /** Ids by unique field and value. A Map distinguishes numbers from text. */
  readonly #unique = new Map<string, Map<unknown, string>>();

  /** @throws StoreConflict when existing documents violate a new unique index */
  ensure(indexes: readonly IndexSpec[], bytesField?: string): void {
    this.#bytesField = bytesField;
    for (const { fields, unique } of indexes) {
      const [field = ''] = fields.map(checkPath);
      if (!unique || this.#unique.has(field)) continue;
      if (fields.length !== 1) throw new TypeError('a unique index must have exactly one field');
      const ids = new Map<unknown, string>();
      for (const doc of this.#docs.values()) {
        const value = getPathValue(doc, field);
        if (value === null) continue;
        if (ids.has(value)) throw new StoreConflict(field);
        ids.set(value, doc.id);
      }
      this.#unique.set(field, ids);
    }
  }

  async get(id: string): Promise<T | null> {
    const doc = this.#docs.get(id);
    return doc === undefined ? null : this.#withBytes(doc);
  }

  async find(query: FindQuery = {}): Promise<Page<T>> {
    const sort = query.sort ?? [];
    const limit = resolvePageLimit(query.limit);
    const filters = [cloneJson(query.filter ?? {})];
    if (typeof query.after === 'string') filters.push({ or: toAfterFilters(sort, decodeCursor(sort, query.after)) });
    const found = this.#findMatching(filters, sort).slice(0, limit + 1);
    return toPage(
      sort,
      found.map((doc) => this.#withBytes(doc)),
      limit,
    );
  }

  #withBytes(doc: T): T {
    return attachBytes(cloneJson(doc), this.#bytesField, this.#bytes.get(doc.id)?.slice());
  }

  async count(filter: Filter = {}): Promise<number> {
    return this.#findMatching([cloneJson(filter)]).length;
  }

  async groupCount(path: string, filter: Filter = {}): Promise<{ key: Scalar; n: number }[]> {
    checkPath(path);
    const groups = new Map<Scalar, number>();
    for (const doc of this.#findMatching([cloneJson(filter)])) {
      const key = getPathValue(doc, path) as Scalar;
      groups.set(key, (groups.get(key) ?? 0) + 1);
    }
    return [...groups].map(([key, n]) => ({ key, n }));
  }

  async insert(doc: T): Promise<void> {
    this.#write(doc, (plain) => this.#insert(plain));
  }

  #write(given: T, write: (plain: T) => unknown): T {
    const { doc, bytes } = splitBytes(given, this.#bytesField);
    const plain = cloneJson(doc);
    write(plain);
    this.#setBytes(plain.id, bytes);
    return plain;
  }

  #setBytes(id: string, bytes: Uint8Array | undefined): void {
    if (bytes === undefined) this.#bytes.delete(id);
    else this.#bytes.set(id, bytes.slice());
  }

  async change(filter: Filter, update: Update, options: ChangeOptions = {}): Promise<ChangeResult<T> | null> {
    const changed = this.#change(filter, update, options);
    return changed && { doc: cloneJson(changed.doc), created: changed.created };
  }

  async changeMany(filter: Filter, update: Update, limit = Infinity): Promise<number> {
    const found = this.#findMatching([cloneJson(filter)]).slice(0, limit);
    for (const doc of found) this.#replace(doc, update);
    return found.length;
  }

  async remove(filter: Filter, limit = Infinity): Promise<number> {
    const found = this.#findMatching([cloneJson(filter)]).slice(0, limit);
    for (const doc of found) {
      this.#docs.delete(doc.id);
      this.#bytes.delete(doc.id);
      for (const [field, ids] of this.#unique) ids.delete(getPathValue(doc, field));
    }
    return found.length;
  }

  async bulk(ops: readonly WriteOp<T>[]): Promise<WriteResult[]> {
    const results: WriteResult[] = [];
    for (const op of ops) {
      try {
        if ('insert' in op) this.#write(op.insert, (plain) => this.#insert(plain));
        if ('put' in op) this.#write(op.put, (plain) => this.#put(plain));
        results.push({ n: await this.#runOperation(op) });
      } catch (error) {
        if (!(error instanceof StoreConflict)) throw error;
        results.push({ conflict: error.index });
      }
    }
    return results;
  }

  /**
   * Applies one write of a transaction.
   * @returns the changed document and an undo function, or null when no document matches
   * @throws StoreConflict
   */
  write(write: TransactionWrite): { changed: T | null; undo: () => void } | null {
    if ('insert' in write) {
      const doc = this.#write(write.insert as T, (plain) => this.#insert(plain));
      return { changed: null, undo: () => this.#restore(doc, null) };
    }
    if ('put' in write) {
      const before = this.#docs.get(write.put.id) ?? null;
      const bytes = this.#bytes.get(write.put.id);
      const doc = this.#write(write.put as T, (plain) => this.#put(plain));
      return { changed: null, undo: () => this.#restore(doc, before, bytes) };
    }
    const { change, update, sort, upsert = false } = write;
    const [before = null] = this.#findMatching([cloneJson(change)], sort);
    const changed = this.#change(change, update, sort === undefined ? { upsert } : { sort, upsert });
    if (changed === null) return null;
    const bytes = this.#bytes.get(changed.doc.id);
    return { changed: cloneJson(changed.doc), undo: () => this.#restore(changed.doc, before, bytes) };
  }

  #restore(now: T, before: T | null, bytes?: Uint8Array): void {
    for (const [field, ids] of this.#unique) ids.delete(getPathValue(now, field));
    this.#docs.delete(now.id);
    if (before !== null) this.#insert(before);
    this.#setBytes(now.id, bytes);
  }

  async #runOperation(op: WriteOp<T>): Promise<number> {
    if ('insert' in op || 'put' in op) return 1;
    if ('remove' in op) return this.remove(op.remove);
    return this.#change(op.change, op.update, { upsert: op.upsert ?? false }) ? 1 : 0;
  }

  /** Sorted by id, or in the order of `sort`. */
  #findMatching(filters: readonly Filter[], sort: Sort = []): T[] {
    const found = this.#findCandidates(filters).filter((doc) => filters.every((filter) => matchesFilter(doc, filter)));
    return found.sort(compareDocs(toTotalSort(sort)));
  }

  #findCandidates(filters: readonly Filter[]): T[] {
    const id = filters.map((filter) => filter['id']).find((value) => typeof value === 'string');
    if (typeof id !== 'string') return [...this.#docs.values()];
    const doc = this.#docs.get(id);
    return doc === undefined ? [] : [doc];
  }

  #change(filter: Filter, update: Update, { sort, upsert }: ChangeOptions): ChangeResult<T> | null {
    const plain = cloneJson(filter);
    const [found] = this.#findMatching([plain], sort);
    if (found) return { doc: this.#replace(found, update), created: false };
    if (!upsert) return null;
    return {
      doc: this.#insert(applyUpdate(buildSeed(plain) as T, cloneJson(toPlainUpdate(update)), true)),
      created: true,
    };
  }

  #insert(doc: T): T {
    if (typeof doc.id !== 'string') throw new TypeError('the id of a document must be a string');
    if (this.#docs.has(doc.id)) throw new StoreConflict('id');
    this.#updateIndexes(null, doc);
    this.#docs.set(doc.id, doc);
    return doc;
  }

  #put(doc: T): void {
    const old = this.#docs.get(doc.id);
    if (old === undefined) return void this.#insert(doc);
    this.#updateIndexes(old, doc);
    this.#docs.set(doc.id, doc);
  }

  #replace(old: T, update: Update): T {
    const doc = applyUpdate(cloneJson(old), cloneJson(toPlainUpdate(update)));
    this.#updateIndexes(old, doc);
    this.#docs.set(doc.id, doc);
    return doc;
  }

  #updateIndexes(old: T | null, doc: T): void {
    for (const [field, ids] of this.#unique) {
      const value = getUniqueValue(doc, field);
      const holder = ids.get(value);
      if (value !== undefined && holder !== undefined && holder !== doc.id) throw new StoreConflict(field);
    }
    for (const [field, ids] of this.#unique) {
      if (old) ids.delete(getPathValue(old, field));
      const value = getUniqueValue(doc, field);
      if (value !== undefined) ids.set(value, doc.id);
    }
  }
}
