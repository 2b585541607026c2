/**
 * One reading of something large, shared by all who ask. While it is quick every question gets a reading that began
 * after it, so that a caller sees its own change. Once it has become slow it may be a little old, and the next one is
 * begun before it is too old, so that only the first of many callers waits.
 */
import { BoundedMap } from './bounded-map.js';
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
  /** When it began, and how long it took. */
  since: number;
  took: number;
}

/** The next reading begins so many times what the last one took before that is too old. */
const AHEAD = 2;
const KEY = '';

export class SharedReading<T> {
  readonly #flight = new SingleFlight<T>();
  #last: Reading<T> | null = null;
  /** The last one was; before the first nothing is known, and callers share it. */
  #quick = false;
  #expiry: NodeJS.Timeout | undefined;

  constructor(
    private readonly read: () => Promise<T>,
    private readonly options: ReadingOptions<T>,
  ) {}

  take(): Promise<T> {
    const { maxAgeMs, monotonic } = this.options;
    const read = (): Promise<T> => this.#read();
    if (this.#quick) return this.#flight.fresh(KEY, read);
    const age = this.#last === null ? Infinity : monotonic() - this.#last.since;
    if (this.#last === null || age < 0 || age > maxAgeMs) return this.#flight.share(KEY, read);
    // What fails is asked again by the next caller, who learns of it.
    if (age > maxAgeMs - AHEAD * this.#last.took) this.#flight.share(KEY, read).catch(() => (this.#last = null));
    return Promise.resolve(this.#last.value);
  }

  async #read(): Promise<T> {
    const began = performance.now();
    const since = this.options.monotonic();
    const value = await this.read();
    const took = performance.now() - began;
    const { quickMs = 0, isSmall } = this.options;
    this.#quick = took <= quickMs || isSmall?.(value) === true;
    const reading = { value, since, took };
    this.#last = this.#quick ? null : reading;
    clearTimeout(this.#expiry);
    // An idle process holds no copy.
    this.#expiry = setTimeout(() => {
      if (this.#last === reading) this.#last = null;
    }, this.options.maxAgeMs);
    this.#expiry.unref();
    return value;
  }
}

/** One for each of many keys: of each project, what is counted there. */
export class KeyedReadings<T> {
  readonly #readings: BoundedMap<SharedReading<T>>;

  /** @param most keys that are kept */
  constructor(
    most: number,
    private readonly options: ReadingOptions<T>,
  ) {
    this.#readings = new BoundedMap({ most });
  }

  /** @param read of this key, always the same */
  take(key: string, read: () => Promise<T>): Promise<T> {
    let reading = this.#readings.get(key);
    if (reading === undefined) {
      reading = new SharedReading(read, this.options);
      this.#readings.set(key, reading);
    }
    return reading.take();
  }
}
