/**
 * Every number is an index range: `queue_key` starts with the severity and marks regressions, so
 * waiting items are counted without reading them. Rejected: counting by the filters of the views,
 * which reads every open item.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { iteratePages } from '../../../lib/paging.js';
import { ReadCache } from '../../../lib/read-cache.js';
import { CoalescedCache } from '../../../lib/shared-reading.js';
import { HOUR_MS, isoOf } from '../../../lib/time.js';
import type {
  ChangedGroup,
  ErrorGroup,
  ErrorGroupQuery,
  ErrorGroups,
  FilterCounts,
} from '../../../ports/domain/bugs.js';
import { matches } from '../../../ports/document.js';
import type { Filter, Sort } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import { Attention, type NeedsAttention } from './attention.js';
import { ItemFilterCounts, type CountedFilter } from './filter-counts.js';
import { toItemFilter, toItemSort, type ItemQuery, type SortName } from '../item/filters.js';
import { Leases } from '../claims/leases.js';
import { addNamedItems } from '../store/named.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc } from '../item/model.js';
import { listDailyCounts, listHourlyCounts } from '../item/rate.js';
import { SEVERITIES } from '../item/severity.js';
import { toGroupView } from '../item/view.js';
import { findReadable, type ReadablePage } from '../../../ports/store/left-out.js';

const ROWS = 50;
const SUMMED = 1000;
const BATCH_SIZE = 100;
const CHANGES = 100;
const FRESH_MS = 10_000;

/** Waiting items: open, not muted, not claimed. */
export interface Waiting {
  open: number;
  critical: number;
  regressed: number;
  in_progress: number;
  needs_info: number;
  resolved: number;
}

/** Item count above which all users share the tab counts for two seconds. */
const MANY = 2_000;
const COUNT_AGE_MS = 2_000;

interface HourSums {
  counts: number[];
  groups: number;
  complete: boolean;
}

const MAX_WAIT_MS = 20;

function least({ lt }: { lt?: string | number }, value: string | number): string | number {
  return lt !== undefined && lt < value ? lt : value;
}

function itemQuery({ sort: _order, limit: _limit, cursor: _page, q, ...filters }: ErrorGroupQuery): ItemQuery {
  const fields = Object.entries(filters).map(([name, values]) => [name, [...(values ?? [])]]);
  return { ...(Object.fromEntries(fields) as ItemQuery), type: ['error'], ...(q ? { q: [q] } : {}) };
}

@injectable()
export class Board implements ErrorGroups {
  readonly #totals: ReadCache<number>;
  readonly #counts: CoalescedCache<Waiting>;
  #sums: { key: string; at: number; value: Promise<HourSums | null> } | null = null;

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Leases) private readonly leases: Leases,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(Attention) private readonly needs: Attention,
    @inject(ItemFilterCounts) private readonly beside: ItemFilterCounts,
  ) {
    const monotonic = (): number => deps.clock.monotonic();
    this.#totals = new ReadCache({ max: 200, ttlMs: FRESH_MS, now: monotonic });
    this.#counts = new CoalescedCache(() => this.#count(), {
      maxAgeMs: COUNT_AGE_MS,
      monotonic,
      isSmall: ({ open, resolved }) => open + resolved <= MANY,
    });
  }

  /**
   * Returns one page of rows.
   * @throws InvalidCursor
   */
  async rows(
    query: ItemQuery,
    page: { sort?: SortName; limit?: number; cursor?: string | null },
  ): Promise<ReadablePage<ErrorGroup>> {
    await this.leases.writeExpired();
    const found = await findReadable(this.deps.items, {
      filter: toItemFilter(await addNamedItems(this.deps, query)),
      sort: toItemSort(page.sort),
      limit: page.limit ?? ROWS,
      after: page.cursor ?? null,
    });
    return { ...found, items: found.items.map((doc) => toGroupView(doc, this.deps.clock.now())) };
  }

  list(query: ErrorGroupQuery): Promise<ReadablePage<ErrorGroup>> {
    const { sort, limit, cursor } = query;
    return this.rows(itemQuery(query), { sort, limit, cursor });
  }

  count(query: ErrorGroupQuery): Promise<number | null> {
    const { sort: _order, limit: _limit, cursor: _page, ...filters } = query;
    return this.total(`error ${JSON.stringify(filters)}`, itemQuery(query));
  }

  filterCounts(query: ErrorGroupQuery): Promise<FilterCounts | null> {
    const { sort: _order, limit: _limit, cursor: _page, ...filters } = query;
    return this.countsBeside(`error ${JSON.stringify(filters)}`, itemQuery(query), [
      'error_level',
      'status',
      'project',
    ]);
  }

  /** Counts the items per filter value; null when the counts take too long for a page. */
  countsBeside(key: string, query: ItemQuery, names: readonly CountedFilter[]): Promise<FilterCounts | null> {
    return this.beside.of(key, query, names);
  }

  changes(query: ErrorGroupQuery, since: string | null): Promise<{ items: ChangedGroup[]; mark: string }> {
    return this.changed(itemQuery(query), since);
  }

  /**
   * Delta query of a live list (contract 00, lists), polled every few seconds. It reads by type and
   * project; the other filters are checked on each item, because their fields may have changed.
   */
  async changed(query: ItemQuery, since: string | null): Promise<{ items: ChangedGroup[]; mark: string }> {
    const mark = this.watermark.safe();
    if (since === null) return { items: [], mark };
    await this.leases.writeExpired();
    const { type, project } = query;
    const begin = this.watermark.since(since);
    const filter: Filter = { ...toItemFilter({ type, project }), updated_at: { gte: begin } };
    const page = await this.deps.items.find({ filter, sort: [['updated_at', 'asc']], limit: CHANGES });
    const all = toItemFilter(await addNamedItems(this.deps, query));
    const now = this.deps.clock.now();
    const items = page.items.map((doc) => Object.assign(toGroupView(doc, now), { fits: matches(doc, all) }));
    const last = page.items.at(-1)?.updated_at;
    return { items, mark: page.next !== null && last !== undefined && last > begin && last < mark ? last : mark };
  }

  /**
   * Returns the item after another one in a list, even if that one no longer matches. Ids break
   * ties, as in the list.
   */
  async following(query: ItemQuery, sort: SortName | undefined, doc: ItemDoc): Promise<ErrorGroup | null> {
    await this.leases.writeExpired();
    const filter = toItemFilter(await addNamedItems(this.deps, query));
    const order = toItemSort(sort);
    const [path] = order[0] as Sort[number];
    const value = doc[path as 'last_seen_at' | 'severity_rank'];
    const bounds = (filter[path] ?? {}) as object;
    const damaged = (): void => undefined;
    const [alike, below] = await Promise.all([
      this.deps.items.find({
        filter: { ...filter, [path]: value, id: { lt: doc.id } },
        sort: [['id', 'desc']],
        limit: 1,
        damaged,
      }),
      this.deps.items.find({
        filter: { ...filter, [path]: { ...bounds, lt: least(bounds, value) } },
        sort: order,
        limit: 1,
        damaged,
      }),
    ]);
    const next = alike.items[0] ?? below.items[0];
    return next === undefined ? null : toGroupView(next, this.deps.clock.now());
  }

  /**
   * Counts the items of a list; null when no index serves the filter in time. The count continues
   * for the next request.
   * @param key identifies the query
   */
  total(key: string, query: ItemQuery): Promise<number | null> {
    return this.#totals.getWithin(MAX_WAIT_MS, key, async () =>
      this.deps.items.count(toItemFilter(await addNamedItems(this.deps, query))),
    );
  }

  open(): Promise<number> {
    return this.deps.items.count({ queue_key: { gt: '' } });
  }

  counts(): Promise<Waiting> {
    return this.#counts.take();
  }

  async #count(): Promise<Waiting> {
    await this.leases.writeExpired();
    const of = (filter: Filter): Promise<number> => this.deps.items.count(filter);
    const [open, critical, in_progress, needs_info, resolved, ...regressed] = await Promise.all([
      this.open(),
      of({ queue_key: { prefix: '0' } }),
      of({ status: 'in_progress' }),
      of({ status: 'needs_info' }),
      of({ status: 'resolved' }),
      ...SEVERITIES.map((_, rank) => of({ queue_key: { prefix: `${rank}0` } })),
    ]);
    return { open, critical, in_progress, needs_info, resolved, regressed: regressed.reduce((a, b) => a + b, 0) };
  }

  attention(limit: number): Promise<NeedsAttention> {
    return this.needs.of(limit);
  }

  hours(doc: ItemDoc, length: number): number[] {
    return listHourlyCounts(doc.hours, this.deps.clock.now(), length);
  }

  days(doc: ItemDoc): number[] {
    return listDailyCounts(doc.hours, doc.days, this.deps.clock.now());
  }

  perHour(hours: number): Promise<HourSums | null> {
    const at = this.deps.clock.now();
    const key = `${hours} ${Math.floor(at / HOUR_MS)}`;
    if (this.#sums?.key === key && at - this.#sums.at < FRESH_MS) return this.#sums.value;
    const sums = { key, at, value: this.#perHour(hours, at) };
    sums.value.catch(() => {
      if (this.#sums === sums) this.#sums = null;
    });
    this.#sums = sums;
    return sums.value;
  }

  async #perHour(hours: number, now: number): Promise<HourSums | null> {
    const counts = Array.from({ length: hours }, () => 0);
    const filter = { type: 'error', last_seen_at: { gte: isoOf(now - hours * HOUR_MS) } };
    let groups = 0;
    let complete = true;
    const damaged = (): void => void (complete = false);
    for await (const items of iteratePages(this.deps.items, {
      filter,
      sort: toItemSort('last_seen_at'),
      limit: BATCH_SIZE,
      damaged,
    })) {
      if (groups >= SUMMED) {
        complete = false;
        break;
      }
      for (const doc of items)
        listHourlyCounts(doc.hours, now, hours).forEach((n, i) => (counts[i] = (counts[i] ?? 0) + n));
      groups += items.length;
    }
    if (groups > 0) return { counts, groups, complete };
    const any = { filter: { type: 'error' }, sort: toItemSort('last_seen_at'), limit: 1, damaged };
    const { items } = await this.deps.items.find(any);
    return items.length === 0 && complete ? null : { counts, groups, complete };
  }
}
