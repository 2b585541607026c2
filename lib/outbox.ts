/**
 * The outbox of documents: what a change has to tell others is written with the change, inside the changed document,
 * and leaves it when it is delivered (docs/decisions/003).
 *
 * Order: the change with its entries → each entry is delivered → the outbox is emptied, guarded by `outbox_at`, which
 * every entry that joins changes. A crash anywhere leaves `outbox_at`, by which the owner's job finds the document.
 * Deliveries of one document come one after the other; a receiver knows an entry by its id, so that one that comes
 * twice is told once.
 *
 * Structurally typed: a collection of the store port is such a collection of rows.
 */
import { elapsed } from './clock-skew.js';
import { KeyedMutex } from './keyed-mutex.js';
import { iteratePages } from './paging.js';

/** Older entries belong to a process that is gone, or to a receiver that failed. */
const LEFTOVER_MS = 10_000;
const MAX_BATCH_SIZE = 200;
const NONE: ReadonlySet<string> = new Set();

interface Entry {
  /** Known to the receivers. */
  id: string;
  /** RFC 3339. */
  at: string;
}

export interface OutboxHolder<E extends Entry> {
  id: string;
  outbox: readonly E[];
  /** `outboxAt` of the newest entry; null: the outbox is empty. */
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
  change(filter: { [path: string]: string }, update: Emptying): Promise<unknown>;
  changeMany(filter: object, update: Emptying): Promise<number>;
  bulk(ops: readonly { change: { [path: string]: string }; update: Emptying }[]): Promise<readonly object[]>;
}

type Emptying =
  { set: { outbox?: []; outbox_at: null } } | { pull: { outbox: { field: 'id'; in: readonly string[] } } };

export interface OutboxDelivery<T extends OutboxHolder<E>, E extends Entry> {
  rows: Rows<T>;
  /** True when the entry may leave the document: whoever has to know it has stored it. */
  deliver(doc: T, entry: E): Promise<boolean>;
  /** Brings entries to places of their own, if they have some; what is there already stays. */
  place?(doc: T, entries: readonly E[]): Promise<void>;
  /** Entries behind one that may not leave wait for it, so that no later one overtakes it. */
  inOrder: boolean;
  /**
   * Deliveries that come within so many milliseconds after one go together, and their documents are emptied by one
   * write: for stores of which each write is a command of its own. Absent: each goes at once.
   */
  gatherMs?: number;
  /** Asked when all is delivered; true: the document itself is gone, and nothing is left to empty. */
  emptied?(doc: T): Promise<boolean>;
  /** Milliseconds since 1970. */
  now(): number;
  /** A delivery failed; the job repeats it. */
  failed(error: unknown, id: string): void;
}

/** Differs for each entry, so that emptying an outbox never hides one that came meanwhile. */
export const outboxAt = ({ at, id }: Entry): string => `${at} ${id}`;

/** A document whose entries are all delivered. */
interface Delivered {
  id: string;
  outbox_at: string;
  resolve: (isEmpty: boolean) => void;
  reject: (error: unknown) => void;
}

export class Outbox<T extends OutboxHolder<E>, E extends Entry> {
  readonly #inTurn = new KeyedMutex();
  readonly #background = new Set<Promise<void>>();
  readonly #turns: GatheredTurns | null;
  #delivered: Delivered[] = [];
  /** Calls that wait for the end of all: nothing is gathered meanwhile. */
  #draining = 0;

  constructor(private readonly delivery: OutboxDelivery<T, E>) {
    const { gatherMs } = delivery;
    this.#turns = gatherMs === undefined ? null : new GatheredTurns(gatherMs);
  }

  /**
   * Delivers behind the caller.
   * @param doc as it was written @param entries those that the caller wrote into it, and has placed
   */
  send(doc: T, entries: readonly E[]): void {
    void this.#run(doc.id, async () => {
      if (this.#draining === 0) await this.#turns?.next();
      await this.#deliver(doc, entries);
    });
  }

  /**
   * Delivers all that the document holds when its turn comes. Resolves when that is done, well or badly.
   * @param placed ids of entries that the caller has placed
   */
  sendAll(id: string, placed: ReadonlySet<string> = NONE): Promise<void> {
    return this.#run(id, async () => {
      const doc = await this.delivery.rows.get(id);
      if (doc === null || doc.outbox_at === null) return;
      const missing = doc.outbox.filter((entry) => !placed.has(entry.id));
      if (missing.length > 0) await this.delivery.place?.(doc, missing);
      await this.#deliver(doc, doc.outbox);
    });
  }

  #run(id: string, work: () => Promise<void>): Promise<void> {
    const task = this.#inTurn.run(id, work).catch((error: unknown) => this.delivery.failed(error, id));
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

  /** False when another entry has joined meanwhile. */
  async #empty(doc: T): Promise<boolean> {
    const { id, outbox_at } = doc;
    if (outbox_at === null || (await this.delivery.emptied?.(doc)) === true) return true;
    if (this.#turns !== null) return this.#emptyTogether(id, outbox_at);
    // In bulk, because its answer does not bring the document back.
    const [done] = await this.delivery.rows.bulk([
      { change: { id, outbox_at }, update: { set: { outbox: [], outbox_at: null } } },
    ]);
    return done !== undefined && 'n' in done && done.n !== 0;
  }

  /** With all whose deliveries end in this turn of the event loop. */
  #emptyTogether(id: string, outbox_at: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#delivered.push({ id, outbox_at, resolve, reject });
      if (this.#delivered.length === 1) setImmediate(() => this.#emptyAll());
    });
  }

  #emptyAll(): void {
    const delivered = this.#delivered;
    this.#delivered = [];
    for (let i = 0; i < delivered.length; i += MAX_BATCH_SIZE)
      void this.#emptyThese(delivered.slice(i, i + MAX_BATCH_SIZE));
  }

  async #emptyThese(delivered: readonly Delivered[]): Promise<void> {
    const { rows } = this.delivery;
    try {
      const ids = delivered.map(({ id }) => id);
      // Names an entry, so it can only be the one of its own document.
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
   * Delivers what a crash or a failed receiver left behind, in batches; resolves when that is done. Answers how many
   * documents had something.
   * @param left finds them; absent: those that are waiting for some seconds
   */
  async reconcile(signal?: AbortSignal, left: object = this.#leftover()): Promise<number> {
    let n = 0;
    const query: Query = { filter: left, sort: [['outbox_at', 'asc']], limit: MAX_BATCH_SIZE };
    for await (const docs of iteratePages(this.delivery.rows, query)) {
      await Promise.all(docs.map(({ id }) => this.sendAll(id)));
      n += docs.length;
      if (signal?.aborted === true) break;
    }
    return n;
  }

  #leftover(): object {
    return elapsed('outbox_at', LEFTOVER_MS, this.delivery.now());
  }

  /** Seconds since the oldest entry that is not delivered; 0: all are. */
  async oldestAge(): Promise<number> {
    const page = await this.delivery.rows.find({
      filter: { outbox_at: { gt: '' } },
      sort: [['outbox_at', 'asc']],
      limit: 1,
    });
    const at = page.items[0]?.outbox_at;
    // `outboxAt` begins with the time.
    return at ? Math.max(0, (this.delivery.now() - Date.parse(at.split(' ', 1)[0] ?? '')) / 1000) : 0;
  }

  /** Resolves when all that this process has begun is done. */
  async drain(): Promise<void> {
    this.#draining += 1;
    this.#turns?.release();
    while (this.#background.size > 0) await Promise.all(this.#background);
    this.#draining -= 1;
  }
}

/**
 * Lets work that comes in rows go together, so that what it asks of a store travels in few commands: the first goes at
 * once, and all that come within `everyMs` after it go together at the end of this time.
 */
class GatheredTurns {
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** @param everyMs milliseconds; the longest that anybody waits */
  constructor(private readonly everyMs: number) {}

  /** Null: it is the caller's turn now; else resolves when it is. */
  next(): Promise<void> | null {
    if (this.#timer !== null) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#timer = setTimeout(() => this.#end(), this.everyMs);
    return null;
  }

  /** Ends the wait of all. */
  release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #end(): void {
    this.#timer = this.#waiting.length === 0 ? null : setTimeout(() => this.#end(), this.everyMs);
    this.release();
  }
}
