/**
 * Items that need a person, for the dashboard (contract 80): waiting critical items and
 * regressions, and critical items in progress. Only the newest, the last seen and the oldest
 * critical items are considered.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { iteratePages } from '../../../lib/paging.js';
import { CoalescedCache } from '../../../lib/shared-reading.js';
import { DAY_MS, isoOf } from '../../../lib/time.js';
import type { Filter } from '../../../ports/store.js';
import { Leases } from '../claims/leases.js';
import { DEPS, type BugDeps } from '../deps.js';
import { toItemSort } from '../item/filters.js';
import type { ItemDoc } from '../item/model.js';
import { getSeverityRank } from '../item/severity.js';
import { toGroupView } from '../item/view.js';
import { groupConcerns, type Concern } from './concerns.js';

/** Lists and health report damaged documents; the panel is shown without them. */
const damaged = (): void => undefined;

const BATCH_SIZE = 100;
const LOOKED_AT = 600;
const CRITICAL_LOOKED_AT = 5000;
const SEEN_LAST = 1000;
const CRITICAL = ['00', '01'];
const WORKED_ON = { status: 'in_progress', severity_rank: getSeverityRank('critical') };
const READING = { maxAgeMs: 2_000, quickMs: 10 };
const RANKS = ['0', '1', '2', '3'];

export interface NeedsAttention {
  concerns: Concern[];
  total: number;
  fresh: number;
}

@injectable()
export class Attention {
  readonly #reading: CoalescedCache<NeedsAttention>;

  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'clock'>,
    @inject(Leases) private readonly leases: Leases,
  ) {
    this.#reading = new CoalescedCache(() => this.#look(), { ...READING, monotonic: () => deps.clock.monotonic() });
  }

  /**
   * Returns the loudest items, similar ones combined. `total` counts all waiting items, `fresh` all
   * items of the last 24 hours.
   */
  async of(limit: number): Promise<NeedsAttention> {
    const { concerns, ...numbers } = await this.#reading.take();
    return { ...numbers, concerns: concerns.slice(0, limit) };
  }

  async #look(): Promise<NeedsAttention> {
    await this.leases.writeExpired();
    const since = isoOf(this.deps.clock.now() - DAY_MS);
    const queue = [...CRITICAL, ...RANKS.slice(1).map((rank) => `${rank}0`)];
    const [fresh, working, ...classes] = await Promise.all([
      this.deps.items.count({ created_at: { gte: since } }),
      this.deps.items.find({ filter: WORKED_ON, sort: toItemSort('last_seen_at'), limit: BATCH_SIZE, damaged }),
      ...queue.map(async (prefix) => {
        const filter = { queue_key: { prefix } };
        const [items, n] = await Promise.all([
          this.#newest(filter, CRITICAL.includes(prefix) ? CRITICAL_LOOKED_AT : LOOKED_AT),
          this.deps.items.count(filter),
        ]);
        return { items, n, oldest: CRITICAL.includes(prefix) && items.length < n ? await this.#oldest(filter) : [] };
      }),
    ]);
    const waiting = classes.flatMap((part) => [...part.items, ...part.oldest]);
    if (classes.some(({ items, n }) => items.length < n)) waiting.push(...(await this.#lately(queue)));
    const docs = [...working.items, ...waiting];
    const once = [...new Map(docs.map((doc) => [doc.id, doc])).values()];
    const concerns = groupConcerns(once.map((doc) => toGroupView(doc, this.deps.clock.now())));
    return { concerns, total: classes.reduce((sum, part) => sum + part.n, 0), fresh };
  }

  async #lately(queue: readonly string[]): Promise<ItemDoc[]> {
    const found: ItemDoc[] = [];
    let looked = 0;
    const query = { filter: { status: 'open' }, sort: toItemSort('last_seen_at'), limit: BATCH_SIZE, damaged };
    for await (const items of iteratePages(this.deps.items, query)) {
      found.push(...items.filter(({ queue_key: key }) => queue.some((prefix) => key?.startsWith(prefix))));
      looked += items.length;
      if (looked >= SEEN_LAST || found.length >= LOOKED_AT) break;
    }
    return found;
  }

  async #newest(filter: Filter, most: number): Promise<ItemDoc[]> {
    const found: ItemDoc[] = [];
    for await (const items of iteratePages(this.deps.items, {
      filter,
      sort: [['queue_key', 'desc']],
      limit: BATCH_SIZE,
      damaged,
    })) {
      found.push(...items);
      if (found.length >= most) break;
    }
    return found;
  }

  async #oldest(filter: Filter): Promise<ItemDoc[]> {
    const page = await this.deps.items.find({ filter, sort: [['queue_key', 'asc']], limit: BATCH_SIZE, damaged });
    return page.items;
  }
}
