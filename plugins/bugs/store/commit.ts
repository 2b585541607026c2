/**
 * Writes of several documents that belong together. No other file of the plugin knows whether the store has
 * transactions (ports/store.ts, Transact); callers hand over the same writes, and the same marker, either way.
 *
 * With transactions all of them are one write: all or none. Without, each is a write of its own, in the given order,
 * and the first that is refused ends it. What a crash leaves then is found by its marker (docs/consistency.md).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { StoreConflict, type Collection, type Doc, type TransactionWrite } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';

/** One write; the collection by its name in the manifest. */
export type Write = TransactionWrite;

/** A document that marks other writes as under way: open before them, closed after them. */
export interface Marker {
  collection: string;
  open: Doc;
  closed: Doc;
}

/** Writes that come before the one that counts. */
export interface PreparedWrites {
  /** Writes to make together with the count: all, or none because the store has them already. */
  along: readonly Write[];
  /** The marker is in the store, open, and the caller closes it when all is written. */
  opened: boolean;
}

/** The result of a commit. */
export interface Written {
  /** One for each write: the document as a change with `answer` left it. */
  docs: readonly (Doc | null)[];
  /** One for each of the writes beside: false where it was refused. */
  beside: readonly boolean[];
}

@injectable()
export class Commit {
  constructor(@inject(DEPS) private readonly deps: BugDeps) {}

  /** Whether several writes are one; otherwise each is one of its own. */
  get isTogether(): boolean {
    return this.deps.transact !== null;
  }

  /** Writes all of `before` and opens the marker, or leaves both to go along. Null: one of them was refused. */
  async prepare(before: readonly Write[], marker: Marker | null): Promise<PreparedWrites | null> {
    const { transact } = this.deps;
    const insert = transact === null ? marker?.open : marker?.closed;
    const writes = marker && insert ? [...before, { collection: marker.collection, insert }] : before;
    if (transact !== null) return { along: writes, opened: false };
    return (await this.#inTurn(writes)) && { along: [], opened: marker !== null };
  }

  /**
   * @param beside what is worth keeping only together with the writes. Where those are no transaction, it is written at
   * the same
   *   time, and its refusal changes nothing
   * @returns null: one was refused
   */
  async write(writes: readonly Write[], beside: readonly Write[] = []): Promise<Written | null> {
    const { transact } = this.deps;
    if (transact !== null && writes.length > 1) {
      const docs = await transact([...writes, ...beside]);
      return docs && { docs, beside: beside.map(() => true) };
    }
    if (beside.length === 0) {
      const docs = await this.#inTurn(writes);
      return docs && { docs, beside: [] };
    }
    const kept = Promise.all(beside.map(async (write) => (await this.#one(write)) !== null));
    const [docs, stored] = await Promise.all([this.#inTurn(writes), kept]);
    return docs && { docs, beside: stored };
  }

  /**
   * Sorts entries that are written with a change of a document: `along` go to places of their own at once, `waiting`
   * stay in the document until they are delivered (item-outbox.ts).
   */
  sorted<T>(entries: readonly T[], placeOf: (entry: T) => Write | null): { along: Write[]; waiting: readonly T[] } {
    if (this.deps.transact === null) return { along: [], waiting: entries };
    return {
      along: entries.flatMap((entry) => placeOf(entry) ?? []),
      waiting: entries.filter((entry) => placeOf(entry) === null),
    };
  }

  async #inTurn(writes: readonly Write[]): Promise<(Doc | null)[] | null> {
    const docs: (Doc | null)[] = [];
    for (const write of writes) {
      const done = await this.#one(write);
      if (done === null) return null;
      docs.push(done.doc);
    }
    return docs;
  }

  /** The write's result; null: it was refused. */
  #one(write: Write): Promise<{ doc: Doc | null } | null> {
    const collection = this.#collection(write.collection);
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

  #collection(name: string): Collection<Doc> {
    return this.deps[name as 'items'];
  }
}
