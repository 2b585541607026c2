/** Runs on the main thread and exchanges requests and answers with the threads. */
import { encodeCursorAfter, decodeCursor, resolvePageLimit, toPage } from '../../ports/cursor.js';
import { stringifyJson, toPlainUpdate, attachBytes } from '../../ports/document.js';
import {
  StoreConflict,
  StoreDamaged,
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
import { parseBody } from './stored-body.js';
import { DamagedTextError } from './driver/damage.js';
import type { SalvagedRow } from './reading/salvage.js';
import type { FindRequest, ReadKind, WholeDoc, WriteKind } from './threads/messages.js';

export interface StorageThreads {
  /** Runs on the main thread unless the file is locked. */
  get(collection: string, id: string): string | null | Promise<string | null>;
  getBytesField(collection: string): string | undefined;
  getWhole(collection: string, id: string): Promise<WholeDoc | null>;
  reportDamage(error: StoreDamaged): void;
  read(kind: ReadKind, collection: string, text: string): Promise<unknown>;
  write(kind: WriteKind, collection: string, text: string): Promise<unknown>;
  put(kind: 'insert' | 'put', collection: string, doc: Doc): Promise<unknown>;
}

/** Documents per step of changeMany and remove, so that other writes run in between. */
const CHUNK_DOCUMENTS = 200;
const PARSE_SLICE_MS = 5;

export class SqliteCollection<T extends Doc> implements Collection<T> {
  readonly name: string;
  readonly #threads: StorageThreads;

  constructor(name: string, threads: StorageThreads) {
    this.name = name;
    this.#threads = threads;
  }

  async get(id: string): Promise<T | null> {
    const bytes = this.#threads.getBytesField(this.name);
    if (bytes !== undefined) return this.#getWhole(id, bytes);
    const body = await this.#threads.get(this.name, id);
    return body === null ? null : this.#parse(body, id);
  }

  async #getWhole(id: string, field: string): Promise<T | null> {
    const [body, bytes] = (await this.#threads.getWhole(this.name, id)) ?? [null, null];
    return body === null ? null : attachBytes(this.#parse(body, id), field, bytes);
  }

  #parse(body: string, id: string): T {
    try {
      return parseDoc(this.name, body, id) as T;
    } catch (error) {
      if (error instanceof StoreDamaged) this.#threads.reportDamage(error);
      throw error;
    }
  }

  async find(query: FindQuery = {}): Promise<Page<T>> {
    const sort = query.sort ?? [];
    const limit = resolvePageLimit(query.limit);
    const after = typeof query.after === 'string' ? decodeCursor(sort, query.after) : null;
    const request = { filter: query.filter ?? {}, sort, rows: limit + 1, after };
    try {
      const bodies = (await this.#read('find', request)) as string[];
      const page = toPage(sort, await parseAllDocs<T>(this.name, bodies), limit);
      const field = this.#threads.getBytesField(this.name);
      if (field === undefined) return page;
      const whole = await Promise.all(page.items.map(({ id }) => this.#getWhole(id, field)));
      return { ...page, items: whole.filter((doc) => doc !== null) };
    } catch (error) {
      if (!(error instanceof StoreDamaged) || error.place.collection === null) throw error;
      return this.#findUndamaged(request, error, query.damaged);
    }
  }

  /** @throws StoreDamaged when the caller does not handle damaged documents */
  async #findUndamaged(request: FindRequest, error: StoreDamaged, damaged: FindQuery['damaged']): Promise<Page<T>> {
    const rows = (await this.#read('salvage', request).catch(() => {
      throw error;
    })) as SalvagedRow[];
    const limit = request.rows - 1;
    const sick = rows.filter(({ body }) => body === null).map(({ id }) => this.#toDamage(id, error));
    // A condition on an unindexed field does not match a damaged document.
    const damageErrors = sick.length === 0 || error.place.id !== null ? [error, ...sick] : sick;
    for (const one of damageErrors) this.#threads.reportDamage(one);
    if (damaged === undefined) throw damageErrors[0] ?? error;
    for (const one of damageErrors) damaged(one);
    const items = rows.slice(0, limit).flatMap(({ id, body }) => (body === null ? [] : [this.#parse(body, id)]));
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return { items, next: last === undefined ? null : encodeCursorAfter(request.sort, last.values) };
  }

  #toDamage(id: string, { cause }: StoreDamaged): StoreDamaged {
    return new StoreDamaged({ collection: this.name, id }, { cause });
  }

  async count(filter: Filter = {}): Promise<number> {
    return (await this.#read('count', filter)) as number;
  }

  async groupCount(path: string, filter: Filter = {}): Promise<{ key: Scalar; n: number }[]> {
    return (await this.#read('groupCount', { path, filter })) as { key: Scalar; n: number }[];
  }

  async insert(doc: T): Promise<void> {
    await this.#threads.put('insert', this.name, doc);
  }

  async change(filter: Filter, update: Update, options: ChangeOptions = {}): Promise<ChangeResult<T> | null> {
    const request = { filter, update: toPlainUpdate(update), ...options };
    const changed = (await this.#write('change', request)) as [body: string, created: boolean] | null;
    return changed && { doc: JSON.parse(changed[0]) as T, created: changed[1] };
  }

  async changeMany(filter: Filter, update: Update, limit?: number): Promise<number> {
    return this.#writeEach('changeIds', { filter, update: toPlainUpdate(update) }, limit);
  }

  async remove(filter: Filter, limit?: number): Promise<number> {
    // An id matches at most one document, so no search is needed.
    if (typeof filter['id'] === 'string' && (limit ?? 1) >= 1) return (await this.#write('remove', filter)) as number;
    return this.#writeEach('removeIds', { filter }, limit);
  }

  async bulk(ops: readonly WriteOp<T>[]): Promise<WriteResult[]> {
    const settled = await Promise.allSettled(ops.map((op) => this.#runBulkOperation(op)));
    return settled.map((result) => {
      if (result.status === 'fulfilled') return { n: result.value };
      if (result.reason instanceof StoreConflict) return { conflict: result.reason.index };
      throw result.reason;
    });
  }

  async #runBulkOperation(op: WriteOp<T>): Promise<number> {
    if ('remove' in op) return (await this.#write('remove', op.remove)) as number;
    if ('change' in op) {
      const request = { filter: op.change, update: toPlainUpdate(op.update), upsert: op.upsert };
      return (await this.#write('touch', request)) as number;
    }
    if ('put' in op) await this.#threads.put('put', this.name, op.put);
    else await this.insert(op.insert);
    return 1;
  }

  /** Finds the ids first, then writes in chunks; each document only if it still matches. */
  async #writeEach(
    kind: 'changeIds' | 'removeIds',
    request: { filter: Filter; update?: Update },
    limit?: number,
  ): Promise<number> {
    const rows = limit ?? Number.MAX_SAFE_INTEGER;
    const ids = (await this.#read('ids', { filter: request.filter, sort: [], rows, after: null })) as string[];
    let n = 0;
    for (let i = 0; i < ids.length; i += CHUNK_DOCUMENTS) {
      n += (await this.#write(kind, { ...request, ids: ids.slice(i, i + CHUNK_DOCUMENTS) })) as number;
    }
    return n;
  }

  #read(kind: ReadKind, request: object): Promise<unknown> {
    return this.#threads.read(kind, this.name, stringifyJson(request));
  }

  #write(kind: WriteKind, request: object): Promise<unknown> {
    return this.#threads.write(kind, this.name, stringifyJson(request));
  }
}

/**
 * @param id where known
 * @throws StoreDamaged
 */
function parseDoc(collection: string, body: string, id: string | null = null): Doc {
  try {
    return parseBody(body);
  } catch (error) {
    const place = { collection, id: id ?? (error instanceof DamagedTextError ? error.id : null) };
    throw new StoreDamaged(place, { cause: error });
  }
}

/** @throws StoreDamaged */
async function parseAllDocs<T extends Doc>(collection: string, bodies: readonly string[]): Promise<T[]> {
  const docs: T[] = [];
  let since = performance.now();
  for (const body of bodies) {
    docs.push(parseDoc(collection, body) as T);
    if (performance.now() - since < PARSE_SLICE_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    since = performance.now();
  }
  return docs;
}
