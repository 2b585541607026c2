/**
 * How many items each value of a filter would show, next to the other filters of the list. These are counts by groups,
 * which an index serves for some filters alone, so a page of a large store shows none that are not there in time.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { ReadCache } from '../../../lib/read-cache.js';
import type { FilterCounts } from '../../../ports/domain/bugs.js';
import { DEPS, type BugDeps } from '../deps.js';
import { toItemFilter, type ItemQuery } from '../item/filters.js';
import { SEVERITIES } from '../item/severity.js';
import { addNamedItems } from '../store/named.js';

/** Filters with counts, and the path of each: a rank has an index, the word has none. */
const PATHS = {
  status: 'status',
  severity: 'severity_rank',
  type: 'type',
  project: 'project',
  error_level: 'error_level',
} as const;
export type CountedFilter = keyof typeof PATHS;

/** How long a page waits for counts. */
const MAX_WAIT_MS = 25;
/** Counts that a page can wait for are cached for so many times the duration of their read, others for a minute. */
const TTL_FACTOR = 20;
const SLOW_TTL_MS = 60_000;
/** Queries that are counted at the same time; a page with another one shows no counts. */
const MAX_RUNNING = 4;

@injectable()
export class ItemFilterCounts {
  readonly #cache: ReadCache<FilterCounts>;
  #running = 0;

  constructor(@inject(DEPS) private readonly deps: BugDeps) {
    this.#cache = new ReadCache({
      max: 200,
      ttlMs: (tookMs) => (tookMs <= MAX_WAIT_MS ? tookMs * TTL_FACTOR : SLOW_TTL_MS),
      now: () => deps.clock.monotonic(),
    });
  }

  /** @param key names the query @param names the filters to count; null: they cannot be counted in time */
  of(key: string, query: ItemQuery, names: readonly CountedFilter[]): Promise<FilterCounts | null> {
    const read = (): Promise<FilterCounts> => this.#countAll(query, names);
    // A failed count keeps no page from being shown; the page's own reads report the fault.
    return this.#cache.getWithin(MAX_WAIT_MS, `${names.join()} ${key}`, read).catch(() => null);
  }

  async #countAll(query: ItemQuery, names: readonly CountedFilter[]): Promise<FilterCounts> {
    if (this.#running >= MAX_RUNNING) throw new Error('Too many queries are being counted.');
    this.#running++;
    try {
      const named = await addNamedItems(this.deps, query);
      const counts: Record<string, Record<string, number>> = {};
      // One after the other: all at once they would hold every reading thread, and pages would wait for these.
      for (const name of names) counts[name] = await this.#count(name, named);
      return counts;
    } finally {
      this.#running--;
    }
  }

  async #count(name: CountedFilter, { [name]: _own, ...others }: ItemQuery): Promise<Record<string, number>> {
    const groups = await this.deps.items.groupCount(PATHS[name], toItemFilter(others));
    const word = (key: unknown): string => (name === 'severity' ? (SEVERITIES[Number(key)] ?? '') : String(key));
    return Object.fromEntries(groups.filter(({ key }) => key !== null).map(({ key, n }) => [word(key), n]));
  }
}
