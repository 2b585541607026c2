/** Indexes serve only some filters, so a page omits counts that are not ready in time. */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { ReadCache } from '../../../lib/caching/read-cache.js';
import type { FilterCounts } from '../../../ports/domain/bugs.js';
import { DEPS } from '../deps.js';
import { toItemFilter, type ItemQuery } from '../item/filters.js';
import { SEVERITIES } from '../item/severity.js';
import { IndirectMatchService } from '../store/indirect-matches.js';
import type { Clock } from '../../../ports/clock.js';
import type { ItemDoc } from '../item/model.js';
import type { Collection } from '../../../ports/store/index.js';

const FILTER_PATHS = {
  status: 'status',
  severity: 'severity_rank',
  type: 'type',
  project: 'project',
  error_level: 'error_level',
} as const;
export type CountedFilter = keyof typeof FILTER_PATHS;

const MAX_WAIT_MS = 25;
/** Fast counts are cached this multiple of their read time, slow ones a minute. */
const TTL_FACTOR = 20;
const SLOW_TTL_MS = 60_000;
const MAX_CONCURRENT_COUNTS = 4;

@injectable()
export class FilterCountService {
  readonly #cache: ReadCache<FilterCounts>;
  #running = 0;

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) clock: Clock,
    @inject(IndirectMatchService) private readonly indirectMatches: IndirectMatchService,
  ) {
    this.#cache = new ReadCache({
      max: 200,
      ttlMs: (tookMs) => (tookMs <= MAX_WAIT_MS ? tookMs * TTL_FACTOR : SLOW_TTL_MS),
      now: () => clock.monotonic(),
    });
  }

  /**
   * @param key identifies the query
   * @returns null when not counted in time
   */
  getCounts(key: string, query: ItemQuery, names: readonly CountedFilter[]): Promise<FilterCounts | null> {
    const read = (): Promise<FilterCounts> => this.#countAll(query, names);
    // The page's own reads report the fault.
    return this.#cache.getWithin(MAX_WAIT_MS, `${names.join()} ${key}`, read).catch(() => null);
  }

  async #countAll(query: ItemQuery, names: readonly CountedFilter[]): Promise<FilterCounts> {
    if (this.#running >= MAX_CONCURRENT_COUNTS) throw new Error('Too many queries are being counted.');
    this.#running++;
    try {
      const named = await this.indirectMatches.addTo(query);
      const counts: Record<string, Record<string, number>> = {};
      // Parallel counts would occupy all reading threads.
      for (const name of names) counts[name] = await this.#count(name, named);
      return counts;
    } finally {
      this.#running--;
    }
  }

  async #count(name: CountedFilter, { [name]: _own, ...others }: ItemQuery): Promise<Record<string, number>> {
    const groups = await this.items.groupCount(FILTER_PATHS[name], toItemFilter(others));
    const word = (key: unknown): string => (name === 'severity' ? (SEVERITIES[Number(key)] ?? '') : String(key));
    return Object.fromEntries(groups.filter(({ key }) => key !== null).map(({ key, n }) => [word(key), n]));
  }
}
