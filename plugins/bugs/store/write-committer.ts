/**
 * Only this file knows whether the store has transactions (ports/store/index.ts, Transact).
 * Without, writes run in order until one is rejected, and the marker identifies what a crash left
 * (docs/consistency.md).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import {
  StoreConflict,
  type Collection,
  type Doc,
  type Transact,
  type TransactionWrite,
} from '../../../ports/store/index.js';
import { DEPS, GET_COLLECTION } from '../deps.js';

export type DocumentWrite = TransactionWrite;

/** Open before other writes, closed after them. */
export interface PendingMarker {
  collection: string;
  open: Doc;
  closed: Doc;
}

export interface PreparedWrites {
  /** With the count; empty when stored already. */
  along: readonly DocumentWrite[];
  /** The caller must close the stored marker. */
  opened: boolean;
}

export interface CommitResult {
  docs: readonly (Doc | null)[];
  beside: readonly boolean[];
}

@injectable()
export class WriteCommitter {
  constructor(
    @inject(DEPS.transact) private readonly transact: Transact | null,
    @inject(GET_COLLECTION) private readonly getCollection: (name: string) => Collection<Doc>,
  ) {}

  get isAtomic(): boolean {
    return this.transact !== null;
  }

  /**
   * Writes `before` and opens the marker, or returns both for the transaction. Returns null when a
   * write was rejected.
   */
  async prepare(before: readonly DocumentWrite[], marker: PendingMarker | null): Promise<PreparedWrites | null> {
    const transact = this.transact;
    const insert = transact === null ? marker?.open : marker?.closed;
    const writes = marker && insert ? [...before, { collection: marker.collection, insert }] : before;
    if (transact !== null) return { along: writes, opened: false };
    return (await this.#writeInOrder(writes)) && { along: [], opened: marker !== null };
  }

  /**
   * @param optionalWrites writes that are useful only with the others: without transactions they
   *   run concurrently and may be rejected
   * @returns null when a write was rejected
   */
  async write(
    writes: readonly DocumentWrite[],
    optionalWrites: readonly DocumentWrite[] = [],
  ): Promise<CommitResult | null> {
    const transact = this.transact;
    if (transact !== null && writes.length > 1) {
      const docs = await transact([...writes, ...optionalWrites]);
      return docs && { docs, beside: optionalWrites.map(() => true) };
    }
    if (optionalWrites.length === 0) {
      const docs = await this.#writeInOrder(writes);
      return docs && { docs, beside: [] };
    }
    const optionalResults = Promise.all(optionalWrites.map(async (write) => (await this.#writeOne(write)) !== null));
    const [docs, stored] = await Promise.all([this.#writeInOrder(writes), optionalResults]);
    return docs && { docs, beside: stored };
  }

  /**
   * `along` are stored immediately, `waiting` stay in the document until delivered
   * (item-outbox.ts).
   */
  partition<T>(
    entries: readonly T[],
    placeOf: (entry: T) => DocumentWrite | null,
  ): { along: DocumentWrite[]; waiting: readonly T[] } {
    if (this.transact === null) return { along: [], waiting: entries };
    return {
      along: entries.flatMap((entry) => placeOf(entry) ?? []),
      waiting: entries.filter((entry) => placeOf(entry) === null),
    };
  }

  async #writeInOrder(writes: readonly DocumentWrite[]): Promise<(Doc | null)[] | null> {
    const docs: (Doc | null)[] = [];
    for (const write of writes) {
      const done = await this.#writeOne(write);
      if (done === null) return null;
      docs.push(done.doc);
    }
    return docs;
  }

  #writeOne(write: DocumentWrite): Promise<{ doc: Doc | null } | null> {
    const collection = this.getCollection(write.collection);
    if ('change' in write) {
      const { collection: _name, change, update, answer: _answer, ...options } = write;
      return collection.change(change, update, options);
    }
    return 'put' in write ? this.#put(collection, write.put) : this.#insert(collection, write.insert);
  }

  async #put(collection: Collection<Doc>, put: Doc): Promise<{ doc: null }> {
    await collection.bulk([{ put }]);
    return { doc: null };
  }

  async #insert(collection: Collection<Doc>, doc: Doc): Promise<{ doc: null } | null> {
    try {
      await collection.insert(doc);
      return { doc: null };
    } catch (error) {
      if (error instanceof StoreConflict) return null;
      throw error;
    }
  }
}
