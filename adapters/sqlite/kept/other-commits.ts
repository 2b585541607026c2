/**
 * What the writer knows of other processes, in memory that the event loop shares. At the beginning of a transaction the
 * writer looks whether another process has committed; none can until the transaction ends.
 *
 * Rejected: to tell the event loop with each answer of the writer. After a slow commit such news is too old to be
 * believed, so everything was read again in just those moments in which the machine was busy.
 */

/**
 * Places of the cells: the number that moves with each commit of another process, whether the writer holds the lock,
 * when it last knew.
 */
const OTHERS = 0;
const HELD = 1;
const AT_NS = 2;
const CELLS = 3;

/** Milliseconds by a clock that all threads share; `performance.now()` begins anew in each. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

export class CommitWatch {
  readonly shared: SharedArrayBuffer;
  readonly #cells: BigInt64Array;
  readonly #now: () => number;

  /** @param shared of the other thread's. @param now as `monotonicMs` */
  constructor(shared?: SharedArrayBuffer, now: () => number = monotonicMs) {
    this.shared = shared ?? new SharedArrayBuffer(CELLS * BigInt64Array.BYTES_PER_ELEMENT);
    this.#cells = new BigInt64Array(this.shared);
    this.#now = now;
    // Nothing is known yet, which is no number that SQLite gives.
    if (shared === undefined) Atomics.store(this.#cells, OTHERS, -1n);
  }

  /** The writer, which has the lock now. */
  begin(others: number): void {
    Atomics.store(this.#cells, OTHERS, BigInt(others));
    Atomics.store(this.#cells, HELD, 1n);
  }

  /** The writer is about to commit. A commit gives the lock back before it is over, since a checkpoint may follow. */
  end(): void {
    Atomics.store(this.#cells, AT_NS, BigInt(Math.floor(this.#now() * 1e6)));
    Atomics.store(this.#cells, HELD, 0n);
  }

  /** The transaction has failed, and may have lost its lock by that. */
  fail(): void {
    Atomics.store(this.#cells, HELD, 0n);
  }

  /** The caller asks for this after `at`, so that it is at least as new. */
  get others(): number {
    return Number(Atomics.load(this.#cells, OTHERS));
  }

  /** Up to when `others` is known to be true, by the same clock; 0: never looked. */
  get at(): number {
    if (Atomics.load(this.#cells, HELD) === 1n) return this.#now();
    return Number(Atomics.load(this.#cells, AT_NS)) / 1e6;
  }
}
