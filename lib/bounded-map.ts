/**
 * A map that is bounded in number and in age, for values that a process may cache for a while. A miss is
 * always correct, so nothing depends on an entry. The work is lru-cache's; what this adds is our clock, and an end to
 * the moment: lru-cache keeps an entry as long as its age is not above its lifetime.
 *
 * The bound is given as a size, of which every entry takes one: of a number of entries lru-cache would make its four
 * tables at once, 0.8 MB for 20,000, however few are ever there.
 */
import { LRUCache } from 'lru-cache';

export interface Bounds {
  /** Entries; the least recently used makes room. */
  most: number;
  /** Milliseconds from `set` on; absent: for as long as there is room. */
  ttlMs?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/** lru-cache takes a lifetime of 0 for none. */
const LEAST = 0.001;

export class BoundedMap<V extends {}> {
  readonly #entries: LRUCache<string, V>;
  readonly #ttlMs: number | undefined;

  constructor({ most, ttlMs, now }: Bounds) {
    // lru-cache takes a start at 0 for none, and a test's clock may begin there.
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

  /** @param ttlMs a lifetime of this entry's own */
  set(key: string, value: V, ttlMs = this.#ttlMs): void {
    this.#entries.set(key, value, ttlMs === undefined ? {} : { ttl: Math.max(LEAST, ttlMs - 1) });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
