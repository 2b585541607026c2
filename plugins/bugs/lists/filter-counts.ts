/**
 * How many items each value of a filter would show, beside the other filters of the list. These are counts by groups,
 * which an index serves for some filters alone; so all of them together have a small share of the time, and a page of a
 * large store shows none where they are not there in time.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { BudgetedReadings } from './budgeted-readings.js';
import type { FilterCounts } from '../../../ports/domain/bugs.js';
import { DEPS, type BugDeps } from '../deps.js';
import { filterOf, type ItemQuery } from '../item/filters.js';
import { SEVERITIES } from '../item/severity.js';
import { withNamed } from '../store/named.js';

/** Filters with counts, and the path of each: a rank has an index, the word has none. */
const PATHS = {
  status: 'status',
  severity: 'severity_rank',
  type: 'type',
  project: 'project',
  error_level: 'error_level',
} as const;
export type CountedFilter = keyof typeof PATHS;

const BUDGET = { share: 0.05, burstMs: 500, patienceMs: 25, staleMs: 60_000 };

@injectable()
export class ItemFilterCounts {
  readonly #readings: BudgetedReadings<FilterCounts>;

  constructor(@inject(DEPS) private readonly deps: BugDeps) {
    this.#readings = new BudgetedReadings({ ...BUDGET, monotonic: () => deps.clock.monotonic() });
  }

  /** @param key names the query @param names the filters to count; null: they cannot be counted in time */
  of(key: string, query: ItemQuery, names: readonly CountedFilter[]): Promise<FilterCounts | null> {
    return this.#readings.take(`${names.join()} ${key}`, async () => {
      const named = await withNamed(this.deps, query);
      const counts: Record<string, Record<string, number>> = {};
      // One after the other: all at once they would hold every reading thread, and pages would wait for these.
      for (const name of names) counts[name] = await this.#count(name, named);
      return counts;
    });
  }

  async #count(name: CountedFilter, { [name]: _own, ...others }: ItemQuery): Promise<Record<string, number>> {
    const groups = await this.deps.items.groupCount(PATHS[name], filterOf(others));
    const word = (key: unknown): string => (name === 'severity' ? (SEVERITIES[Number(key)] ?? '') : String(key));
    return Object.fromEntries(groups.filter(({ key }) => key !== null).map(({ key, n }) => [word(key), n]));
  }
}
