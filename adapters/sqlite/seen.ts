/** What the writer sees of other processes when it begins a transaction: none of them commits until that ends. */
export interface Seen {
  /** Moves with each commit of another process. */
  others: number;
  /** When it looked: `monotonicMs`. */
  at: number;
}

/** Milliseconds by a clock that all threads share; `performance.now()` begins anew in each. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
