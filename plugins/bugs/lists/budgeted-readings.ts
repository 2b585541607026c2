/**
 * Readings that are nice to have and may be dear: numbers beside a filter. All of them together take a share of the
 * time and no more, however many different ones are asked for; what does not fit is left out. A reading is as old as it
 * is dear: what took 2 ms is read anew after 40 ms, what took 100 ms after two seconds.
 */
import { BoundedMap } from '../../../lib/bounded-map.js';

export interface BudgetOptions {
  /** The part of the time that all readings may take together, such as 0.05. */
  share: number;
  /** What they may take at once after a rest, in ms. */
  burstMs: number;
  /** How long a caller waits, in ms. */
  patienceMs: number;
  /** How old a value may be that is given out because there is no budget for a new one, in ms. */
  staleMs: number;
  /** Milliseconds that never go back. */
  monotonic: () => number;
}

interface Known<T> {
  value: T;
  at: number;
  took: number;
}

/** Values that are kept, and readings at the same time. */
const MOST_KEPT = 200;
const MOST_RUNNING = 4;

export class BudgetedReadings<T extends {}> {
  readonly #known = new BoundedMap<Known<T>>({ most: MOST_KEPT });
  readonly #running = new Map<string, Promise<T>>();
  /** Milliseconds that may be spent; what a reading took is taken off when it ends. */
  #budget: number;
  #filledAt: number;

  constructor(private readonly options: BudgetOptions) {
    this.#budget = options.burstMs;
    this.#filledAt = options.monotonic();
  }

  /** The value; null when it cannot be had in time, or costs too much now. A reading that fails is null too. */
  async take(key: string, read: () => Promise<T>): Promise<T | null> {
    const known = this.#known.get(key);
    const age = known === undefined ? Infinity : this.options.monotonic() - known.at;
    if (known !== undefined && age < known.took / this.options.share) return known.value;
    const running = this.#running.get(key) ?? this.#begin(key, read);
    const { staleMs, patienceMs } = this.options;
    if (known === undefined || age >= staleMs) return running && this.#soon(running);
    // What took longer than a caller waits is not waited for: the next one has it.
    if (running === null || known.took > patienceMs) return known.value;
    return (await this.#soon(running)) ?? known.value;
  }

  /** Null when there is no budget. */
  #begin(key: string, read: () => Promise<T>): Promise<T> | null {
    const { monotonic, share, burstMs } = this.options;
    const now = monotonic();
    this.#budget = Math.min(burstMs, this.#budget + (now - this.#filledAt) * share);
    this.#filledAt = now;
    if (this.#budget <= 0 || this.#running.size >= MOST_RUNNING) return null;
    const running = read().then(
      (value) => {
        this.#ended(key, now);
        this.#known.set(key, { value, at: monotonic(), took: monotonic() - now });
        return value;
      },
      (err: unknown) => {
        this.#ended(key, now);
        throw err;
      },
    );
    this.#running.set(key, running);
    return running;
  }

  #ended(key: string, since: number): void {
    this.#running.delete(key);
    this.#budget -= this.options.monotonic() - since;
  }

  async #soon(running: Promise<T>): Promise<T | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, this.options.patienceMs, null)));
    try {
      // A number that cannot be read keeps no page from being shown; the page's own readings tell of the fault.
      return await Promise.race([running.catch(() => null), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
