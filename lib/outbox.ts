/**
 * Outbox of documents (docs/decisions/003). Order: write change and entries → deliver each entry →
 * empty the outbox, guarded by `outbox_at`, which every new entry changes and the owner's job uses
 * after a crash.
 */
import { buildElapsedFilter } from './clock-skew.js';
import { KeyedMutex } from './keyed-mutex.js';
import { iteratePages } from './paging.js';

/** Older entries belong to an ended process or failed receiver. */
const LEFTOVER_AGE_MS = 10_000;
const MAX_BATCH_SIZE = 200;
const NO_IDS: ReadonlySet<string> = new Set();

interface OutboxEntry {
  /** Deduplication id of receivers. */
  id: string;
  /** RFC 3339. */
  at: string;
}

export interface OutboxHolder<E extends OutboxEntry> {
  id: string;
  outbox: readonly E[];
  /** Position of the newest entry (`formatOutboxPosition`); null: empty. */
  outbox_at: string | null;
}

interface Query {
  filter?: object;
  sort?: readonly (readonly [string, 'asc' | 'desc'])[];
  limit?: number;
  after?: string | null;
}

interface Rows<T> {
  get(id: string): Promise<T | null>;
  find(query?: Query): Promise<{ items: T[]; next: string | null }>;
  change(filter: { [path: string]: string }, update: EmptyingUpdate): Promise<unknown>;
  changeMany(filter: object, update: EmptyingUpdate): Promise<number>;
  bulk(ops: readonly { change: { [path: string]: string }; update: EmptyingUpdate }[]): Promise<readonly object[]>;
}

type EmptyingUpdate =
  { set: { outbox?: []; outbox_at: null } } | { pull: { outbox: { field: 'id'; in: readonly string[] } } };

export interface OutboxDelivery<T extends OutboxHolder<E>, E extends OutboxEntry> {
  rows: Rows<T>;
  deliver(doc: T, entry: E): Promise<boolean>;
  /** Copies entries to separate storage; idempotent. */
  place?(doc: T, entries: readonly E[]): Promise<void>;
  /** Blocks later entries. */
  inOrder: boolean;
  /** Batches deliveries within this many milliseconds, for stores with one command per write. */
  gatherMs?: number;
  onEmptied?(doc: T): Promise<boolean>;
  /** Milliseconds since 1970. */
  now(): number;
  onFailed(error: unknown, id: string): void;
}

/** Formats a position, unique so that emptying never removes a newer entry. */
export const formatOutboxPosition = ({ at, id }: OutboxEntry): string => `${at} ${id}`;

interface DeliveredDocument {
  id: string;
  outbox_at: string;
  resolve: (isEmpty: boolean) => void;
  reject: (error: unknown) => void;
}

export class Outbox<T extends OutboxHolder<E>, E extends OutboxEntry> {
  readonly #inTurn = new KeyedMutex();
  readonly #background = new Set<Promise<void>>();
  readonly #turns: TurnBatcher | null;
  #delivered: DeliveredDocument[] = [];
  /** Active drains disable batching. */
  #draining = 0;

  constructor(private readonly delivery: OutboxDelivery<T, E>) {
    const { gatherMs } = delivery;
    this.#turns = gatherMs === undefined ? null : new TurnBatcher(gatherMs);
  }

  /** @param entries written by the caller, already placed */
  send(doc: T, entries: readonly E[]): void {
    void this.#run(doc.id, async () => {
      if (this.#draining === 0) await this.#turns?.next();
      await this.#deliver(doc, entries);
    });
  }

  sendAll(id: string, placed: ReadonlySet<string> = NO_IDS): Promise<void> {
    return this.#run(id, async () => {
      const doc = await this.delivery.rows.get(id);
      if (doc === null || doc.outbox_at === null) return;
      const missing = doc.outbox.filter((entry) => !placed.has(entry.id));
      if (missing.length > 0) await this.delivery.place?.(doc, missing);
      await this.#deliver(doc, doc.outbox);
    });
  }

  #run(id: string, work: () => Promise<void>): Promise<void> {
    const task = this.#inTurn.run(id, work).catch((error: unknown) => this.delivery.onFailed(error, id));
    this.#background.add(task);
    return task.finally(() => this.#background.delete(task));
  }

  async #deliver(doc: T, entries: readonly E[]): Promise<void> {
    const gone: string[] = [];
    for (const entry of entries) {
      if (await this.delivery.deliver(doc, entry)) gone.push(entry.id);
      else if (this.delivery.inOrder) break;
    }
    if (gone.length === doc.outbox.length && (await this.#empty(doc))) return;
    if (gone.length > 0)
      await this.delivery.rows.change({ id: doc.id }, { pull: { outbox: { field: 'id', in: gone } } });
  }

  /** Returns false when an entry was added meanwhile. */
  async #empty(doc: T): Promise<boolean> {
    const { id, outbox_at } = doc;
    if (outbox_at === null || (await this.delivery.onEmptied?.(doc)) === true) return true;
    if (this.#turns !== null) return this.#emptyInBatch(id, outbox_at);
    // Bulk, because it does not return the document.
    const [done] = await this.delivery.rows.bulk([
      { change: { id, outbox_at }, update: { set: { outbox: [], outbox_at: null } } },
    ]);
    return done !== undefined && 'n' in done && done.n !== 0;
  }

  /** Of the same turn of the event loop. */
  #emptyInBatch(id: string, outbox_at: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#delivered.push({ id, outbox_at, resolve, reject });
      if (this.#delivered.length === 1) setImmediate(() => this.#emptyAll());
    });
  }

  #emptyAll(): void {
    const delivered = this.#delivered;
    this.#delivered = [];
    for (let i = 0; i < delivered.length; i += MAX_BATCH_SIZE)
      void this.#emptyBatch(delivered.slice(i, i + MAX_BATCH_SIZE));
  }

  async #emptyBatch(delivered: readonly DeliveredDocument[]): Promise<void> {
    const { rows } = this.delivery;
    try {
      const ids = delivered.map(({ id }) => id);
      // Unique per entry, so it matches only its document.
      const newest = delivered.map(({ outbox_at }) => outbox_at);
      const mine = { id: { in: ids }, outbox_at: { in: newest } };
      const n = await rows.changeMany(mine, { set: { outbox: [], outbox_at: null } });
      const left =
        n === ids.length ? [] : (await rows.find({ filter: { id: { in: ids } }, limit: MAX_BATCH_SIZE })).items;
      const full = new Set(left.flatMap((doc) => (doc.outbox_at === null ? [] : [doc.id])));
      for (const { id, resolve } of delivered) resolve(!full.has(id));
    } catch (error) {
      for (const { reject } of delivered) reject(error);
    }
  }

  /**
   * Delivers entries left by a crash or failed receiver.
   * @param left filter; default: entries older than some seconds
   */
  async reconcile(signal?: AbortSignal, left: object = this.#buildLeftoverFilter()): Promise<number> {
    let n = 0;
    const query: Query = { filter: left, sort: [['outbox_at', 'asc']], limit: MAX_BATCH_SIZE };
    for await (const docs of iteratePages(this.delivery.rows, query)) {
      await Promise.all(docs.map(({ id }) => this.sendAll(id)));
      n += docs.length;
      if (signal?.aborted === true) break;
    }
    return n;
  }

  #buildLeftoverFilter(): object {
    return buildElapsedFilter('outbox_at', LEFTOVER_AGE_MS, this.delivery.now());
  }

  /** Returns the age of the oldest undelivered entry in seconds; 0: none. */
  async getOldestAge(): Promise<number> {
    const page = await this.delivery.rows.find({
      filter: { outbox_at: { gt: '' } },
      sort: [['outbox_at', 'asc']],
      limit: 1,
    });
    const at = page.items[0]?.outbox_at;
    // `outbox_at` starts with the time.
    return at ? Math.max(0, (this.delivery.now() - Date.parse(at.split(' ', 1)[0] ?? '')) / 1000) : 0;
  }

  async drain(): Promise<void> {
    this.#draining += 1;
    this.#turns?.release();
    while (this.#background.size > 0) await Promise.all(this.#background);
    this.#draining -= 1;
  }
}

/** The first call runs immediately, those within `everyMs` together afterwards. */
class TurnBatcher {
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** @param everyMs maximum wait in milliseconds */
  constructor(private readonly everyMs: number) {}

  next(): Promise<void> | null {
    if (this.#timer !== null) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#timer = setTimeout(() => this.#end(), this.everyMs);
    return null;
  }

  release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #end(): void {
    this.#timer = this.#waiting.length === 0 ? null : setTimeout(() => this.#end(), this.everyMs);
    this.release();
  }
}
