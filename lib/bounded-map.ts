/**
 * A map bounded in entries and age. The bound is a size of one per entry: with an entry count,
 * lru-cache would allocate its tables up front.
 */
import { LRUCache } from 'lru-cache';

export interface BoundedMapOptions {
  most: number;
  /** Milliseconds from `set`; absent: no expiry. */
  ttlMs?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/** lru-cache treats a TTL of 0 as none. */
const MIN_TTL_MS = 0.001;

export class BoundedMap<V extends {}> {
  readonly #entries: LRUCache<string, V>;
  readonly #ttlMs: number | undefined;

  constructor({ most, ttlMs, now }: BoundedMapOptions) {
    // lru-cache treats a start at 0 as none.
    const perf = now === undefined ? performance : { now: () => now() + 1 };
    this.#entries = new LRUCache<string, V>({ maxSize: most, sizeCalculation: () => 1, ttlResolution: 0, perf });
    this.#ttlMs = ttlMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  /** @param ttlMs of this entry */
  set(key: string, value: V, ttlMs = this.#ttlMs): void {
    this.#entries.set(key, value, ttlMs === undefined ? {} : { ttl: Math.max(MIN_TTL_MS, ttlMs - 1) });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
