import type { Clock } from '../../../../ports/clock.js';
import type { StatsService, DailyStats } from '../../lists/item-stats.js';

const CACHE_TTL_MS = 60_000;

export type EventTotals = Omit<DailyStats, 'date'>;

export interface MonthlyStats {
  days: DailyStats[];
  sums: EventTotals;
}

export class MonthlyStatsCache {
  #known: { at: number; value: Promise<MonthlyStats> } | null = null;

  constructor(
    private readonly stats: Pick<StatsService, 'getStats'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  read(): Promise<MonthlyStats> {
    const now = this.clock.monotonic();
    if (this.#known !== null && now - this.#known.at < CACHE_TTL_MS) return this.#known.value;
    const known = { at: now, value: this.#read() };
    this.#known = known;
    // A failed read is not cached.
    known.value.catch(() => {
      if (this.#known === known) this.#known = null;
    });
    return known.value;
  }

  async #read(): Promise<MonthlyStats> {
    const { per_day: days } = await this.stats.getStats({ project: null });
    const sum = (name: keyof EventTotals): number => days.reduce((all, day) => all + day[name], 0);
    return { days, sums: { new: sum('new'), resolved: sum('resolved'), regressed: sum('regressed') } };
  }
}
