/**
 * A map that is bounded in number and in age, for what a process may believe for a while without asking again. A miss is
 * always right, so nothing depends on an entry. The work is lru-cache's; this binds its time to our clock.
 */
import { LRUCache } from 'lru-cache';

export type BoundedMap<K extends {}, V extends {}> = LRUCache<K, V>;

export interface Bounds {
  /** Entries; the least recently used makes room. */
  most: number;
  /** Milliseconds from `set` on; absent: for as long as there is room. `set` may name another one for its entry. */
  ttlMs?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

export function boundedMap<K extends {}, V extends {}>({ most, ttlMs, now }: Bounds): BoundedMap<K, V> {
  // lru-cache takes a start at 0 for "no start", and a test's clock may begin there.
  const perf = now === undefined ? performance : { now: () => now() + 1 };
  return new LRUCache<K, V>({ max: most, ttl: ttlMs ?? 0, ttlResolution: 0, perf });
}
