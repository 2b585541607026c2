/**
 * Process-local cache of documents that every report is compared with and few calls change.
 *
 * A change applies locally before its call returns, elsewhere through the revision, a document
 * incremented after each change. Processes check it in the background at an age of one second, and
 * before use at two. So changes apply everywhere within two seconds, and idle processes read
 * nothing. A full reload every 30 seconds covers a crash between change and revision.
 */
import { SingleFlight } from '../single-flight.js';

const REFRESH_MS = 1_000;
const MAX_AGE_MS = 2_000;
const MAX_COPY_AGE_MS = 30_000;

interface RevisionCollection {
  get(id: string): Promise<{ readonly rev: number } | null>;
  change(filter: { id: string }, update: { inc: { rev: number } }, options: { upsert: true }): Promise<unknown>;
}

interface RevisionedCacheOptions<T> {
  revisions: RevisionCollection;
  id: string;
  /** Reads all documents. @param before the previous copy */
  read: (before: T | null) => Promise<T>;
  monotonic: () => number;
  failed: (error: unknown) => void;
}

export class RevisionedCache<T> {
  #copy: T | null = null;
  #rev = -1;
  #checkedAt = -Infinity;
  #readAt = -Infinity;
  readonly #reads = new SingleFlight<T>();

  constructor(private readonly options: RevisionedCacheOptions<T>) {}

  /** Returns the copy at any age; null before the first read. */
  get current(): T | null {
    return this.#copy;
  }

  /** Returns a copy at most two seconds old; a promise only if it must be read. */
  get(): T | Promise<T> {
    const age = this.options.monotonic() - this.#checkedAt;
    if (this.#copy === null || age > MAX_AGE_MS) return this.reload();
    if (age > REFRESH_MS) this.#reads.share('', () => this.#read()).catch(this.options.failed);
    return this.#copy;
  }

  /**
   * Publishes a write. Resolves when it applies here; other processes follow within two seconds.
   */
  async publishChange(): Promise<void> {
    const { revisions, id } = this.options;
    await revisions.change({ id }, { inc: { rev: 1 } }, { upsert: true });
    await this.reload();
  }

  /** Reloads the copy. Callers share only reads that begin after their call. */
  reload(): Promise<T> {
    return this.#reads.fresh('', () => this.#read());
  }

  async #read(): Promise<T> {
    const { revisions, id, read, monotonic } = this.options;
    const began = monotonic();
    // Read first, so that the next check notices a change in between.
    const rev = (await revisions.get(id))?.rev ?? 0;
    let copy = this.#copy;
    if (copy === null || rev !== this.#rev || began - this.#readAt > MAX_COPY_AGE_MS) {
      copy = await read(copy);
      this.#copy = copy;
      this.#rev = rev;
      this.#readAt = began;
    }
    this.#checkedAt = began;
    return copy;
  }
}
