/**
 * Cache of one large read, shared by concurrent callers. Fast reads begin after each call, which
 * thus sees its own changes; slow results are cached and refreshed early.
 */
import { LRUCache } from 'lru-cache';
import { SingleFlight } from '../single-flight.js';

export interface CoalescedCacheOptions<T> {
  maxAgeMs: number;
  /** Maximum duration of a fast read. */
  quickMs?: number;
  isSmall?: (value: T) => boolean;
  monotonic: () => number;
}

interface CachedValue<T> {
  value: T;
  refreshAt: number;
}

/** Refreshes this many read durations before expiry. */
const REFRESH_AHEAD_FACTOR = 2;

/** A coalesced cache per key. */
export class KeyedCoalescedCache<T> {
  readonly #slow: LRUCache<string, CachedValue<T>>;
  readonly #flight = new SingleFlight<T>();

  constructor(
    max: number,
    private readonly options: CoalescedCacheOptions<T>,
  ) {
    const { maxAgeMs: ttl, monotonic } = options;
    // Autopurge frees idle copies.
    this.#slow = new LRUCache({ max, ttl, ttlAutopurge: true, ttlResolution: 0, perf: { now: () => monotonic() + 1 } });
  }

  get(key: string, read: () => Promise<T>): Promise<T> {
    const call = (): Promise<T> => this.#read(key, read);
    const slow = this.#slow.get(key);
    if (slow === undefined) return this.#flight.fresh(key, call);
    // The next caller retries and gets the error.
    if (this.options.monotonic() > slow.refreshAt) this.#flight.share(key, call).catch(() => this.#slow.delete(key));
    return Promise.resolve(slow.value);
  }

  async #read(key: string, read: () => Promise<T>): Promise<T> {
    const { maxAgeMs, quickMs = 0, isSmall, monotonic } = this.options;
    const began = performance.now();
    const since = monotonic();
    const value = await read();
    const took = performance.now() - began;
    if (took <= quickMs || isSmall?.(value) === true) this.#slow.delete(key);
    else
      this.#slow.set(key, { value, refreshAt: since + maxAgeMs - REFRESH_AHEAD_FACTOR * took }, { start: since + 1 });
    return value;
  }
}

export class CoalescedCache<T> {
  readonly #readings: KeyedCoalescedCache<T>;

  constructor(
    private readonly read: () => Promise<T>,
    options: CoalescedCacheOptions<T>,
  ) {
    this.#readings = new KeyedCoalescedCache(1, options);
  }

  get(): Promise<T> {
    return this.#readings.get('', this.read);
  }
}
