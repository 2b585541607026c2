/**
 * One reading of something large, shared by all who ask. While it is quick every question gets a reading that began
 * after it, so that a caller sees its own change. A slow one is cached for a while, and the next one is begun before it
 * is too old, so that only the first of many callers waits.
 */
import { LRUCache } from 'lru-cache';
import { SingleFlight } from './single-flight.js';

export interface ReadingOptions<T> {
  /** How old a slow reading may be when it is given out, counted from its beginning, in ms. */
  maxAgeMs: number;
  /** A reading that took no longer is quick, in ms. */
  quickMs?: number;
  /** So is one of which this holds, however busy the machine was. */
  isSmall?: (value: T) => boolean;
  /** Milliseconds that never go back. */
  monotonic: () => number;
}

interface Reading<T> {
  value: T;
  /** When the next one is begun. */
  refreshAt: number;
}

/** The next reading begins so many times what the last one took before that is too old. */
const AHEAD = 2;

/** One for each of many keys: of each project, what is counted there. */
export class KeyedCoalescedCache<T> {
  readonly #slow: LRUCache<string, Reading<T>>;
  readonly #flight = new SingleFlight<T>();

  /** @param max keys that are cached */
  constructor(
    max: number,
    private readonly options: ReadingOptions<T>,
  ) {
    const { maxAgeMs: ttl, monotonic } = options;
    // An idle process holds no copy. lru-cache takes a start at 0 for none.
    this.#slow = new LRUCache({ max, ttl, ttlAutopurge: true, ttlResolution: 0, perf: { now: () => monotonic() + 1 } });
  }

  /** @param read of this key, always the same */
  take(key: string, read: () => Promise<T>): Promise<T> {
    const call = (): Promise<T> => this.#read(key, read);
    const slow = this.#slow.get(key);
    if (slow === undefined) return this.#flight.fresh(key, call);
    // What fails is asked again by the next caller, who learns of it.
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
    else this.#slow.set(key, { value, refreshAt: since + maxAgeMs - AHEAD * took }, { start: since + 1 });
    return value;
  }
}

export class CoalescedCache<T> {
  readonly #readings: KeyedCoalescedCache<T>;

  constructor(
    private readonly read: () => Promise<T>,
    options: ReadingOptions<T>,
  ) {
    this.#readings = new KeyedCoalescedCache(1, options);
  }

  take(): Promise<T> {
    return this.#readings.take('', this.read);
  }
}
