/** Statistics of the last 30 days, cached for a minute, because every list page shows them. */
import type { Clock } from '../../../../ports/clock.js';
import type { Stats, StatsDay } from '../../lists/stats.js';

const FRESH_MS = 60_000;

export type Flow = Omit<StatsDay, 'date'>;

export interface NumbersOf30Days {
  days: StatsDay[];
  sums: Flow;
}

export class OverviewNumbers {
  #known: { at: number; value: Promise<NumbersOf30Days> } | null = null;

  constructor(
    private readonly stats: Pick<Stats, 'of'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  read(): Promise<NumbersOf30Days> {
    const now = this.clock.monotonic();
    if (this.#known !== null && now - this.#known.at < FRESH_MS) return this.#known.value;
    const known = { at: now, value: this.#read() };
    this.#known = known;
    // A failed read is not cached.
    known.value.catch(() => {
      if (this.#known === known) this.#known = null;
    });
    return known.value;
  }

  async #read(): Promise<NumbersOf30Days> {
    const { per_day: days } = await this.stats.of({ project: null });
    const sum = (name: keyof Flow): number => days.reduce((all, day) => all + day[name], 0);
    return { days, sums: { new: sum('new'), resolved: sum('resolved'), regressed: sum('regressed') } };
  }
}
