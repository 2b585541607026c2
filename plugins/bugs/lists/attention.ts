/**
 * Items that need a person (contract 80): critical ones and waiting regressions. Only the newest,
 * last seen and oldest critical items are considered.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { iteratePages } from '../../../lib/paging.js';
import { CoalescedCache } from '../../../lib/caching/coalesced-cache.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import type { Filter, Collection } from '../../../ports/store/index.js';
import { LeaseService } from '../claims/leases.js';
import { DEPS } from '../deps.js';
import { toItemSort } from '../item/filters.js';
import type { ItemDoc } from '../item/model.js';
import { getSeverityRank } from '../item/severity.js';
import { toGroupView } from '../item/api-views.js';
import { groupByCause, type AttentionGroup } from './attention-groups.js';
import type { Clock } from '../../../ports/clock.js';

/** Lists and health report the damage. */
const ignoreDamage = (): void => undefined;

const BATCH_SIZE = 100;
const MAX_CANDIDATES = 100;
const MAX_CRITICAL_CANDIDATES = 400;
const MAX_RECENTLY_SEEN = 300;
const CRITICAL_QUEUE_PREFIXES = ['00', '01'];
const CRITICAL_IN_PROGRESS_FILTER = { status: 'in_progress', severity_rank: getSeverityRank('critical') };
const CACHE_OPTIONS = { maxAgeMs: 2_000, quickMs: 10 };
const QUEUE_RANKS = ['0', '1', '2', '3'];

/** Critical items, and regressions of any severity. */
const listQueuePrefixes = (): string[] => [
  ...CRITICAL_QUEUE_PREFIXES,
  ...QUEUE_RANKS.slice(1).map((rank) => `${rank}0`),
];

export interface AttentionSummary {
  concerns: AttentionGroup[];
  total: number;
  fresh: number;
}

@injectable()
export class AttentionService {
  readonly #reading: CoalescedCache<AttentionSummary>;

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(LeaseService) private readonly leases: LeaseService,
  ) {
    this.#reading = new CoalescedCache(() => this.#loadSummary(), {
      ...CACHE_OPTIONS,
      monotonic: () => clock.monotonic(),
    });
  }

  /**
   * Returns the loudest items, similar ones combined. `total` counts all waiting items, `fresh` all
   * items of the last 24 hours.
   * @param project null: all
   */
  async getSummary(limit: number, project: string | null = null): Promise<AttentionSummary> {
    const { concerns, ...numbers } = await this.#reading.get();
    if (project === null) return { ...numbers, concerns: concerns.slice(0, limit) };
    const own = concerns.filter(({ item }) => item.project === project).slice(0, limit);
    return { ...(await this.#countProject(project)), concerns: own };
  }

  async #countProject(project: string): Promise<Omit<AttentionSummary, 'concerns'>> {
    const since = toIsoString(this.clock.now() - DAY_MS);
    const [fresh, ...waiting] = await Promise.all([
      this.items.count({ project, created_at: { gte: since } }),
      ...listQueuePrefixes().map((prefix) => this.items.count({ project, queue_key: { prefix } })),
    ]);
    return { fresh, total: waiting.reduce((sum, n) => sum + n, 0) };
  }

  async #loadSummary(): Promise<AttentionSummary> {
    await this.leases.writeExpired();
    const since = toIsoString(this.clock.now() - DAY_MS);
    const queue = listQueuePrefixes();
    const [fresh, working, ...classes] = await Promise.all([
      this.items.count({ created_at: { gte: since } }),
      this.items.find({
        filter: CRITICAL_IN_PROGRESS_FILTER,
        sort: toItemSort('last_seen_at'),
        limit: BATCH_SIZE,
        damaged: ignoreDamage,
      }),
      ...queue.map(async (prefix) => {
        const filter = { queue_key: { prefix } };
        const [items, n] = await Promise.all([
          this.#listNewest(filter, CRITICAL_QUEUE_PREFIXES.includes(prefix) ? MAX_CRITICAL_CANDIDATES : MAX_CANDIDATES),
          this.items.count(filter),
        ]);
        return {
          items,
          n,
          oldest: CRITICAL_QUEUE_PREFIXES.includes(prefix) && items.length < n ? await this.#listOldest(filter) : [],
        };
      }),
    ]);
    const waiting = classes.flatMap((part) => [...part.items, ...part.oldest]);
    if (classes.some(({ items, n }) => items.length < n)) waiting.push(...(await this.#listRecentlySeen(queue)));
    const docs = [...working.items, ...waiting];
    const once = [...new Map(docs.map((doc) => [doc.id, doc])).values()];
    const concerns = groupByCause(once.map((doc) => toGroupView(doc, this.clock.now())));
    return { concerns, total: classes.reduce((sum, part) => sum + part.n, 0), fresh };
  }

  async #listRecentlySeen(queue: readonly string[]): Promise<ItemDoc[]> {
    const found: ItemDoc[] = [];
    let looked = 0;
    const query = {
      filter: { status: 'open' },
      sort: toItemSort('last_seen_at'),
      limit: BATCH_SIZE,
      damaged: ignoreDamage,
    };
    for await (const items of iteratePages(this.items, query)) {
      found.push(...items.filter(({ queue_key: key }) => queue.some((prefix) => key?.startsWith(prefix))));
      looked += items.length;
      if (looked >= MAX_RECENTLY_SEEN || found.length >= MAX_CANDIDATES) break;
    }
    return found;
  }

  async #listNewest(filter: Filter, most: number): Promise<ItemDoc[]> {
    const found: ItemDoc[] = [];
    for await (const items of iteratePages(this.items, {
      filter,
      sort: [['queue_key', 'desc']],
      limit: BATCH_SIZE,
      damaged: ignoreDamage,
    })) {
      found.push(...items);
      if (found.length >= most) break;
    }
    return found;
  }

  async #listOldest(filter: Filter): Promise<ItemDoc[]> {
    const page = await this.items.find({
      filter,
      sort: [['queue_key', 'asc']],
      limit: BATCH_SIZE,
      damaged: ignoreDamage,
    });
    return page.items;
  }
}
