/**
 * Every number is an index range: `queue_key` starts with the severity and marks regressions.
 * Counting by the views' filters would read every open item.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { ReadCache } from '../../../lib/caching/read-cache.js';
import { CoalescedCache } from '../../../lib/caching/coalesced-cache.js';
import type {
  ChangedGroup,
  ErrorGroup,
  ErrorGroupQuery,
  ErrorGroups,
  ErrorTraffic,
  ErrorTrafficQuery,
  FilterCounts,
} from '../../../ports/domain/bugs.js';
import { matchesFilter } from '../../../ports/document.js';
import type { Filter, Sort, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { AttentionService, type AttentionSummary } from './attention.js';
import { ErrorTrafficService } from './error-traffic.js';
import { FilterCountService, type CountedFilter } from './filter-counts.js';
import { toItemFilter, toItemSort, type ItemQuery, type SortName } from '../item/filters.js';
import { LeaseService } from '../claims/leases.js';
import { IndirectMatchService } from '../store/indirect-matches.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc } from '../item/model.js';
import { listDailyCounts, listHourlyCounts } from '../item/occurrence-rate.js';
import { SEVERITIES } from '../item/severity.js';
import { toGroupView } from '../item/api-views.js';
import { findReadable, type ReadablePage } from '../../../ports/store/skipped-documents.js';
import type { Clock } from '../../../ports/clock.js';

const DEFAULT_ROW_LIMIT = 50;
const MAX_CHANGES = 100;
const CACHE_TTL_MS = 10_000;

export interface BoardCounts {
  open: number;
  critical: number;
  regressed: number;
  in_progress: number;
  needs_info: number;
  resolved: number;
}

/** Above it, all users share the tab counts for two seconds. */
const LARGE_STORE_ITEM_COUNT = 2_000;
const COUNT_TTL_MS = 2_000;

const MAX_WAIT_MS = 20;

function toUpperBound({ lt }: { lt?: string | number }, value: string | number): string | number {
  return lt !== undefined && lt < value ? lt : value;
}

function toItemQuery({ sort: _order, limit: _limit, cursor: _page, q, ...filters }: ErrorGroupQuery): ItemQuery {
  const fields = Object.entries(filters).map(([name, values]) => [name, [...(values ?? [])]]);
  return { ...(Object.fromEntries(fields) as ItemQuery), type: ['error'], ...(q ? { q: [q] } : {}) };
}

@injectable()
export class ItemBoard implements ErrorGroups {
  readonly #totals: ReadCache<number>;
  readonly #counts: CoalescedCache<BoardCounts>;

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(IndirectMatchService) private readonly indirectMatches: IndirectMatchService,
    @inject(LeaseService) private readonly leases: LeaseService,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(AttentionService) private readonly attentionService: AttentionService,
    @inject(ErrorTrafficService) private readonly traffic: ErrorTrafficService,
    @inject(FilterCountService) private readonly filterCountService: FilterCountService,
  ) {
    const monotonic = (): number => clock.monotonic();
    this.#totals = new ReadCache({ max: 200, ttlMs: CACHE_TTL_MS, now: monotonic });
    this.#counts = new CoalescedCache(() => this.#countWaiting(), {
      maxAgeMs: COUNT_TTL_MS,
      monotonic,
      isSmall: ({ open, resolved }) => open + resolved <= LARGE_STORE_ITEM_COUNT,
    });
  }

  /**
   * Returns one page of rows.
   * @throws InvalidCursor
   */
  async listRows(
    query: ItemQuery,
    page: { sort?: SortName; limit?: number; cursor?: string | null },
  ): Promise<ReadablePage<ErrorGroup>> {
    await this.leases.writeExpired();
    const found = await findReadable(this.items, {
      filter: toItemFilter(await this.indirectMatches.addTo(query)),
      sort: toItemSort(page.sort),
      limit: page.limit ?? DEFAULT_ROW_LIMIT,
      after: page.cursor ?? null,
    });
    return { ...found, items: found.items.map((doc) => toGroupView(doc, this.clock.now())) };
  }

  /** The newest open items of a project that are not muted, held or blocked. */
  async listNewest(project: string, limit: number): Promise<ErrorGroup[]> {
    await this.leases.writeExpired();
    const prefixes = SEVERITIES.flatMap((_, rank) => [`${rank}0`, `${rank}1`]);
    const pages = await Promise.all(
      prefixes.map((prefix) =>
        findReadable(this.items, {
          filter: { project, queue_key: { prefix } },
          sort: [['queue_key', 'desc']],
          limit,
        }),
      ),
    );
    return pages
      .flatMap(({ items }) => items)
      .toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
      .slice(0, limit)
      .map((doc) => toGroupView(doc, this.clock.now()));
  }

  list(query: ErrorGroupQuery): Promise<ReadablePage<ErrorGroup>> {
    const { sort, limit, cursor } = query;
    return this.listRows(toItemQuery(query), { sort, limit, cursor });
  }

  count(query: ErrorGroupQuery): Promise<number | null> {
    const { sort: _order, limit: _limit, cursor: _page, ...filters } = query;
    return this.countItems(`error ${JSON.stringify(filters)}`, toItemQuery(query));
  }

  getFilterCounts(query: ErrorGroupQuery): Promise<FilterCounts | null> {
    const { sort: _order, limit: _limit, cursor: _page, ...filters } = query;
    return this.countByFilter(`error ${JSON.stringify(filters)}`, toItemQuery(query), [
      'error_level',
      'status',
      'project',
    ]);
  }

  /** Returns null when the counts take too long. */
  countByFilter(key: string, query: ItemQuery, names: readonly CountedFilter[]): Promise<FilterCounts | null> {
    return this.filterCountService.getCounts(key, query, names);
  }

  listChanges(query: ErrorGroupQuery, since: string | null): Promise<{ items: ChangedGroup[]; mark: string }> {
    return this.listChangedGroups(toItemQuery(query), since);
  }

  /**
   * Polled every few seconds (contract 00, lists). Reads by type and project; other filters are
   * checked on each item, because their fields may have changed.
   */
  async listChangedGroups(query: ItemQuery, since: string | null): Promise<{ items: ChangedGroup[]; mark: string }> {
    const mark = this.watermark.getSafeMark();
    if (since === null) return { items: [], mark };
    await this.leases.writeExpired();
    const { type, project } = query;
    const begin = this.watermark.getStart(since);
    const filter: Filter = { ...toItemFilter({ type, project }), updated_at: { gte: begin } };
    const page = await this.items.find({ filter, sort: [['updated_at', 'asc']], limit: MAX_CHANGES });
    const all = toItemFilter(await this.indirectMatches.addTo(query));
    const now = this.clock.now();
    const items = page.items.map((doc) => Object.assign(toGroupView(doc, now), { fits: matchesFilter(doc, all) }));
    const last = page.items.at(-1)?.updated_at;
    return { items, mark: page.next !== null && last !== undefined && last > begin && last < mark ? last : mark };
  }

  /** Works even if the item no longer matches; ids break ties. */
  async findNext(query: ItemQuery, sort: SortName | undefined, doc: ItemDoc): Promise<ErrorGroup | null> {
    await this.leases.writeExpired();
    const filter = toItemFilter(await this.indirectMatches.addTo(query));
    const order = toItemSort(sort);
    const [path] = order[0] as Sort[number];
    const value = doc[path as 'last_seen_at' | 'severity_rank'];
    const bounds = (filter[path] ?? {}) as object;
    const damaged = (): void => undefined;
    const [alike, below] = await Promise.all([
      this.items.find({
        filter: { ...filter, [path]: value, id: { lt: doc.id } },
        sort: [['id', 'desc']],
        limit: 1,
        damaged,
      }),
      this.items.find({
        filter: { ...filter, [path]: { ...bounds, lt: toUpperBound(bounds, value) } },
        sort: order,
        limit: 1,
        damaged,
      }),
    ]);
    const next = alike.items[0] ?? below.items[0];
    return next === undefined ? null : toGroupView(next, this.clock.now());
  }

  /**
   * Returns null when not counted in time; the count continues for the next request.
   * @param key identifies the query
   */
  countItems(key: string, query: ItemQuery): Promise<number | null> {
    return this.#totals.getWithin(MAX_WAIT_MS, key, async () =>
      this.items.count(toItemFilter(await this.indirectMatches.addTo(query))),
    );
  }

  /** @param project null: all */
  countAvailable(project: string | null = null): Promise<number> {
    return this.items.count({ queue_key: { gt: '' }, ...(project !== null && { project }) });
  }

  getWaitingCounts(): Promise<BoardCounts> {
    return this.#counts.get();
  }

  async #countWaiting(): Promise<BoardCounts> {
    await this.leases.writeExpired();
    const of = (filter: Filter): Promise<number> => this.items.count(filter);
    const [open, critical, in_progress, needs_info, resolved, ...regressed] = await Promise.all([
      this.countAvailable(),
      of({ queue_key: { prefix: '0' } }),
      of({ status: 'in_progress' }),
      of({ status: 'needs_info' }),
      of({ status: 'resolved' }),
      ...SEVERITIES.map((_, rank) => of({ queue_key: { prefix: `${rank}0` } })),
    ]);
    return { open, critical, in_progress, needs_info, resolved, regressed: regressed.reduce((a, b) => a + b, 0) };
  }

  getAttention(limit: number, project: string | null = null): Promise<AttentionSummary> {
    return this.attentionService.getSummary(limit, project);
  }

  listHourlyCounts(doc: ItemDoc, length: number): number[] {
    return listHourlyCounts(doc.hours, this.clock.now(), length);
  }

  listDailyCounts(doc: ItemDoc): number[] {
    return listDailyCounts(doc.hours, doc.days, this.clock.now());
  }

  getTraffic(query: ErrorTrafficQuery): Promise<ErrorTraffic> {
    return this.traffic.getTraffic(query);
  }
}
