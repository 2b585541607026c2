/**
 * Events are counted from the history, because an item may be resolved and reopened within the
 * period (contract 20, endpoints: `GET /stats`). `stat` (day, kind, project) makes the result one
 * index range. A crash would corrupt counters per day.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { requireProject } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import type { ItemStatus, Severity } from '../../../ports/domain/bugs.js';
import type { Condition, Scalar, Collection } from '../../../ports/store/index.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { LeaseService } from '../claims/leases.js';
import { STATUSES } from '../item/transitions.js';
import { SEVERITIES } from '../item/severity.js';
import type { StatKind } from '../item/stat-kinds.js';
import type { Clock } from '../../../ports/clock.js';
import type { ItemDoc, ActivityDoc } from '../item/model.js';

export const STATS_DAYS = 30;
export interface DailyStats {
  date: string;
  new: number;
  resolved: number;
  regressed: number;
}

export interface StatsResponse {
  by_status: Record<ItemStatus, number>;
  by_severity: Record<Severity, number>;
  by_project: Record<string, number>;
  per_day: DailyStats[];
}

type GroupCounts = readonly { key: Scalar; n: number }[];

/** From it responses are cached, one second per multiple. */
const LARGE_STORE_ITEM_COUNT = 100_000;
const TTL_STEP_MS = 1_000;
const MAX_CACHED_RESPONSES = 1_000;

@injectable()
export class StatsService {
  readonly #runningCounts = new SingleFlight<StatsResponse>();
  readonly #responses = new BoundedMap<StatsResponse>({
    most: MAX_CACHED_RESPONSES,
    now: () => this.clock.monotonic(),
  });

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(LeaseService) private readonly leases: LeaseService,
  ) {}

  /**
   * Concurrent calls share the next count, so no result is older than its call.
   * @throws ServiceError insufficient_scope for a project other than the caller's
   */
  async getStats(caller: Pick<BugCaller, 'project'>, requestedProject: string | null = null): Promise<StatsResponse> {
    if (requestedProject !== null) requireProject(caller.project, requestedProject);
    const project = caller.project ?? requestedProject;
    const key = project ?? '';
    const cached = this.#responses.get(key);
    if (cached !== undefined) return cached;
    return this.#runningCounts.fresh(key, () => this.#countShared(key, project));
  }

  async #countShared(key: string, project: string | null): Promise<StatsResponse> {
    const answer = await this.#count(project);
    this.#cacheResponse(key, answer);
    return answer;
  }

  #cacheResponse(key: string, answer: StatsResponse): void {
    const items = Object.values(answer.by_status).reduce((sum, n) => sum + n, 0);
    if (items < LARGE_STORE_ITEM_COUNT) this.#responses.delete(key);
    else this.#responses.set(key, answer, (items / LARGE_STORE_ITEM_COUNT) * TTL_STEP_MS);
  }

  async #count(project: string | null): Promise<StatsResponse> {
    await this.leases.writeExpired();
    const { items, activity, clock } = this;
    const now = clock.now();
    const filter = project === null ? {} : { project };
    const days = listLastDays(now);
    const [[status, severity], projects, made, happened] = await Promise.all([
      project === null ? this.#countAll() : this.#countProject(project),
      items.groupCount('project', filter),
      Promise.all(days.map((day, i) => items.count({ ...filter, created_at: toDayRange(day, days[i + 1]) }))),
      activity.groupCount('stat', { stat: { gte: days[0] as string, lt: toIsoString(now + DAY_MS).slice(0, 10) } }),
    ]);
    const bySeverity = severity.map(({ key, n }) => ({ key: SEVERITIES[Number(key)] ?? null, n }));
    return {
      by_status: toCountMap(STATUSES, status),
      by_severity: toCountMap(SEVERITIES.toReversed(), bySeverity),
      by_project: Object.fromEntries(
        projects.map(({ key, n }) => [String(key), n] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
      per_day: buildDays(days, made, happened, project),
    };
  }

  #countAll(): Promise<[status: GroupCounts, severity: GroupCounts]> {
    const items = this.items;
    return Promise.all([items.groupCount('status'), items.groupCount('severity_rank')]);
  }

  /** An index range per status and severity; grouping by project would read the items. */
  async #countProject(project: string): Promise<[status: GroupCounts, severity: GroupCounts]> {
    const items = this.items;
    const groups = await Promise.all(STATUSES.map((status) => items.groupCount('severity_rank', { status, project })));
    const ranks = SEVERITIES.map((_, key) => ({
      key,
      n: sumCounts(groups.flat().filter((group) => group.key === key)),
    }));
    return [STATUSES.map((key, i) => ({ key, n: sumCounts(groups[i] ?? []) })), ranks];
  }
}

const sumCounts = (counts: GroupCounts): number => counts.reduce((sum, { n }) => sum + n, 0);

const listLastDays = (now: number): string[] =>
  Array.from({ length: STATS_DAYS }, (_, i) => toIsoString(now - (STATS_DAYS - 1 - i) * DAY_MS).slice(0, 10));

const toDayRange = (day: string, next: string | undefined): Condition => ({
  gte: day,
  ...(next !== undefined && { lt: next }),
});

function toCountMap<K extends string>(names: readonly K[], counts: GroupCounts): Record<K, number> {
  const known = new Map(counts.map(({ key, n }) => [key, n]));
  return Object.fromEntries(names.map((name) => [name, known.get(name) ?? 0])) as Record<K, number>;
}

/** Earlier versions also recorded new items, which are counted by the items themselves. */
const isCounted = (kind: string | undefined): kind is StatKind => kind === 'resolved' || kind === 'regressed';

function buildDays(
  days: readonly string[],
  made: readonly number[],
  counts: GroupCounts,
  project: string | null,
): DailyStats[] {
  const all = days.map((date, i): DailyStats => ({ date, new: made[i] ?? 0, resolved: 0, regressed: 0 }));
  const byDay = new Map(all.map((day) => [day.date, day]));
  for (const { key, n } of counts) {
    const [date = '', kind, slug] = String(key).split(' ');
    const day = byDay.get(date);
    if (day !== undefined && isCounted(kind) && (project === null || slug === project)) day[kind] += n;
  }
  return all;
}
