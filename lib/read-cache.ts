/**
 * Results of reads that pages show and may cache for a while, on lru-cache. Callers with the same key share the read
 * that is running.
 */
import { LRUCache } from 'lru-cache';

export interface ReadCacheOptions {
  /** Number of entries; the least recently used is evicted. */
  max: number;
  /** Milliseconds from the end of the read, or how to get them from the duration of the read. */
  ttlMs: number | ((tookMs: number) => number);
  /** Monotonic milliseconds. */
  now: () => number;
}

type Read<T> = () => Promise<T>;

export class ReadCache<T extends {}> {
  readonly #cache: LRUCache<string, T, Read<T>>;

  constructor({ max, ttlMs, now }: ReadCacheOptions) {
    this.#cache = new LRUCache<string, T, Read<T>>({
      max,
      // An evicted read still answers its callers.
      ignoreFetchAbort: true,
      ttlResolution: 0,
      // lru-cache takes a start at 0 for none.
      perf: { now: () => now() + 1 },
      fetchMethod: async (_key, _stale, { options, context: read }) => {
        const began = now();
        const value = await read();
        // lru-cache takes a lifetime of 0 for none.
        options.ttl = Math.max(0.001, typeof ttlMs === 'number' ? ttlMs : ttlMs(now() - began));
        return value;
      },
    });
  }

  /** @returns null when the read takes longer than `waitMs`; it goes on, and a later call finds its result */
  async getWithin(waitMs: number, key: string, read: Read<T>): Promise<T | null> {
    const value = this.#cache.fetch(key, { context: read }) as Promise<T>;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<null>((resolve) => (timer = setTimeout(resolve, waitMs, null)));
    try {
      return await Promise.race([value, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
