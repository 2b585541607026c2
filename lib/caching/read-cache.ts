/** Concurrent callers of a key share one read. */
import { LRUCache } from 'lru-cache';

export interface ReadCacheOptions {
  max: number;
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
      // An evicted read still resolves for its callers.
      ignoreFetchAbort: true,
      ttlResolution: 0,
      // lru-cache treats a start at 0 as none.
      perf: { now: () => now() + 1 },
      fetchMethod: async (_key, _stale, { options, context: read }) => {
        const began = now();
        const value = await read();
        // lru-cache treats a TTL of 0 as none.
        options.ttl = Math.max(0.001, typeof ttlMs === 'number' ? ttlMs : ttlMs(now() - began));
        return value;
      },
    });
  }

  /** Null after `waitMs`; the read continues for later calls. */
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
