/**
 * This process's copy of documents that every report is compared with and few calls change. Reading it reads no store.
 *
 * A change applies in this process before its call is answered. Other processes notice it by the revision, a small
 * document that every change raises after it was written. A process reads the revision again in the background when its
 * copy is one second old, and before it uses the copy when that is two seconds old. So a change applies everywhere
 * within two seconds, and an idle process reads nothing. If a process dies between a change and the revision, its
 * caller got no answer; everything is read again every half minute anyway.
 *
 * Rejected: reading all documents every second (hundreds for nothing), and a timer (idle processes would read too).
 */
import { SingleFlight } from '../single-flight.js';

const REFRESH_MS = 1_000;
const MAX_AGE_MS = 2_000;
const MAX_COPY_AGE_MS = 30_000;

/** Structurally typed: a collection of the store port is one. */
interface Revisions {
  get(id: string): Promise<{ readonly rev: number } | null>;
  change(filter: { id: string }, update: { inc: { rev: number } }, options: { upsert: true }): Promise<unknown>;
}

interface RevisedCopyOptions<T> {
  revisions: Revisions;
  /** Id of the revision. */
  id: string;
  /** Reads all documents. @param before the copy that the result replaces */
  read: (before: T | null) => Promise<T>;
  monotonic: () => number;
  /** Called when a read in the background fails. */
  failed: (error: unknown) => void;
}

export class RevisedCopy<T> {
  #copy: T | null = null;
  #rev = -1;
  #checkedAt = -Infinity;
  #readAt = -Infinity;
  readonly #reads = new SingleFlight<T>();

  constructor(private readonly options: RevisedCopyOptions<T>) {}

  /** The copy as it is, however old; null before the first read. */
  get current(): T | null {
    return this.#copy;
  }

  /** A copy of at most two seconds; no promise unless it must be read first. */
  get(): T | Promise<T> {
    const age = this.options.monotonic() - this.#checkedAt;
    if (this.#copy === null || age > MAX_AGE_MS) return this.reload();
    if (age > REFRESH_MS) this.#reads.share('', () => this.#read()).catch(this.options.failed);
    return this.#copy;
  }

  /** Call after a write. The change applies here when this resolves, in other processes within two seconds. */
  async changed(): Promise<void> {
    const { revisions, id } = this.options;
    await revisions.change({ id }, { inc: { rev: 1 } }, { upsert: true });
    await this.reload();
  }

  /** Callers share a read, but only one that begins after their call. */
  reload(): Promise<T> {
    return this.#reads.fresh('', () => this.#read());
  }

  async #read(): Promise<T> {
    const { revisions, id, read, monotonic } = this.options;
    const began = monotonic();
    // The revision comes first, so that the next read notices a change between the two.
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
