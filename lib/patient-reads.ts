/**
 * Numbers for pages that cannot wait: each is kept for some seconds, and one that takes longer than a page can wait is
 * null until a later look finds it done.
 */
import { BoundedMap } from './bounded-map.js';

export interface PatientOptions {
  /** How old a value may be, counted from when it was there, in ms. */
  maxAgeMs: number;
  /** How long a page waits, in ms. */
  patienceMs: number;
  /** Keys that are kept. */
  most: number;
  /** Milliseconds that never go back. */
  monotonic: () => number;
}

interface Reading<T> {
  /** When it was done; while it is read, when it began. */
  at: number;
  value: Promise<T>;
}

export class PatientReads<T> {
  readonly #known: BoundedMap<Reading<T>>;

  constructor(private readonly options: PatientOptions) {
    this.#known = new BoundedMap({ most: options.most });
  }

  /** Null: it is not there in time. @param read asked when the value of this key is too old. @throws as `read` */
  async take(key: string, read: () => Promise<T>): Promise<T | null> {
    const { maxAgeMs, monotonic } = this.options;
    const known = this.#known.get(key);
    if (known !== undefined && monotonic() - known.at < maxAgeMs) return this.#soon(known.value);
    const reading = { at: monotonic(), value: read() };
    this.#known.set(key, reading);
    reading.value.then(() => (reading.at = monotonic())).catch(() => this.#known.delete(key));
    return this.#soon(reading.value);
  }

  async #soon(value: Promise<T>): Promise<T | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, this.options.patienceMs, null)));
    try {
      return await Promise.race([value, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
