/**
 * Document store in memory, for tests and `storage.url: memory:`. It runs the reference semantics
 * of ports/document.ts, scans on every query, and must pass the same contract suite as the real
 * engines.
 */
import {
  StoreConflict,
  type Collection,
  type CollectionSpec,
  type Doc,
  type DocumentStore,
  type Transact,
} from '../../ports/store/index.js';
import { MemoryCollection } from './collection.js';

class UnmatchedChangeError extends Error {}

const COLLECTION_NAME_PATTERN = /^[a-z][a-z0-9_]*$/;

export class MemoryStore implements DocumentStore {
  readonly engine = 'memory';
  readonly transact: Transact = async (writes) => {
    const undo: (() => void)[] = [];
    const answers: (Doc | null)[] = [];
    try {
      for (const write of writes) {
        const done = this.#getCollection(write.collection).write(write);
        if (done === null) throw new UnmatchedChangeError();
        undo.push(done.undo);
        answers.push('answer' in write && write.answer === true ? done.changed : null);
      }
      return answers;
    } catch (error) {
      for (const back of undo.toReversed()) back();
      if (error instanceof UnmatchedChangeError || error instanceof StoreConflict) return null;
      throw error;
    }
  };
  readonly #collections = new Map<string, MemoryCollection<Doc>>();

  async connect(): Promise<void> {}

  /** @throws TypeError on a name that is invalid for any engine */
  collection<T extends Doc>(name: string): Collection<T> {
    return this.#getCollection(name) as unknown as Collection<T>;
  }

  async listCollections(): Promise<string[]> {
    return [...this.#collections.keys()].toSorted();
  }

  async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    for (const { name, indexes, bytes } of specs) this.#getCollection(name).ensure(indexes, bytes);
  }

  async ping(): Promise<number> {
    return 0;
  }

  async getSize(): Promise<null> {
    return null;
  }

  async close(): Promise<void> {
    this.#collections.clear();
  }

  #getCollection(name: string): MemoryCollection<Doc> {
    if (!COLLECTION_NAME_PATTERN.test(name)) throw new TypeError(`not a collection name: ${JSON.stringify(name)}`);
    const known = this.#collections.get(name);
    if (known) return known;
    const created = new MemoryCollection<Doc>();
    this.#collections.set(name, created);
    return created;
  }
}
