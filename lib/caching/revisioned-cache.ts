/**
 * Process-local cache of documents that every report is compared with and few calls change. Other
 * processes notice a change by the revision, a document incremented after each change, within two
 * seconds.
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

  get current(): T | null {
    return this.#copy;
  }

  /** At most two seconds old. */
  get(): T | Promise<T> {
    const age = this.options.monotonic() - this.#checkedAt;
    if (this.#copy === null || age > MAX_AGE_MS) return this.reload();
    if (age > REFRESH_MS) this.#reads.share('', () => this.#read()).catch(this.options.failed);
    return this.#copy;
  }

  /** Publishes a write. */
  async publishChange(): Promise<void> {
    const { revisions, id } = this.options;
    await revisions.change({ id }, { inc: { rev: 1 } }, { upsert: true });
    await this.reload();
  }

  /** Callers share only reads that begin after their call. */
  reload(): Promise<T> {
    return this.#reads.fresh('', () => this.#read());
  }

  async #read(): Promise<T> {
    const { revisions, id, read, monotonic } = this.options;
    const began = monotonic();
    // Read first, so that the next check notices changes.
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
