/**
 * Uptime of all monitors and the worst ones, for Home. Monitors that were up throughout are only
 * counted; those that changed are read.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { KeyedCoalescedCache } from '../../../lib/caching/coalesced-cache.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import type { Filter, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { MonitorDoc } from '../model/documents.js';
import { getDailyUptime, getUptime } from '../model/uptime.js';
import type { Clock } from '../../../ports/clock.js';

const COMPARED_DAYS = 7;
const MAX_READ_MONITORS = 200;
const MAX_CACHED_PROJECTS = 500;
const TROUBLED_STATES = ['down', 'warning', 'maintenance', 'stopped', 'unknown'];
const CACHE_OPTIONS = { maxAgeMs: 5_000, quickMs: 10 };

export interface UptimeFigures {
  /** Means of the monitors' shares, 0 to 1; null without a monitor that was watched. */
  day: number | null;
  week: number | null;
  /** Not up throughout the day, worst first. */
  worst: MonitorDoc[];
}

export interface DownTree {
  roots: MonitorDoc[];
  /** Source of a root → monitors below it that are down as well. */
  below: ReadonlyMap<string, number>;
}

const NO_DAMAGE = (): void => undefined;

@injectable()
export class MonitorFigureService {
  readonly #uptimes = new KeyedCoalescedCache<UptimeFigures>(MAX_CACHED_PROJECTS, {
    ...CACHE_OPTIONS,
    monotonic: () => this.clock.monotonic(),
  });

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  /** @param project null: all */
  getUptime(project: string | null): Promise<UptimeFigures> {
    return this.#uptimes.get(project ?? '', () => this.#readUptime(project));
  }

  async #readUptime(project: string | null): Promise<UptimeFigures> {
    const now = this.clock.now();
    const since = toIsoString(now - (COMPARED_DAYS + 1) * DAY_MS);
    const own: Filter = { deleted_at: null, ...(project !== null && { project }) };
    const read = async (filter: Filter): Promise<MonitorDoc[]> => {
      const sort = [['last_state_change_utc', 'desc']] as const;
      const query = { filter: { ...own, ...filter }, sort, limit: MAX_READ_MONITORS, damaged: NO_DAMAGE };
      return (await this.monitors.find(query)).items;
    };
    const [changed, steady, ...troubled] = await Promise.all([
      read({ state: 'up', last_state_change_utc: { gte: since } }),
      this.monitors.count({ ...own, state: 'up', last_state_change_utc: { lt: since } }),
      ...TROUBLED_STATES.map((state) => read({ state })),
    ]);
    const seen = [...changed, ...troubled.flat()].map((doc) => ({
      doc,
      day: getUptime(doc, now).day,
      week: getWeekShare(doc, now),
    }));
    const low = seen
      .filter(({ doc, day }) => day !== null && (day < 1 || doc.state === 'down' || doc.state === 'warning'))
      .toSorted((a, b) => (a.day ?? 1) - (b.day ?? 1) || (a.doc.source < b.doc.source ? -1 : 1));
    return {
      day: getMean(
        seen.map(({ day }) => day),
        steady,
      ),
      week: getMean(
        seen.map(({ week }) => week),
        steady,
      ),
      worst: low.map(({ doc }) => doc),
    };
  }

  /** Lists what is down; children whose parent is down are counted below it. */
  async getDownTree(project: string | null, limit: number): Promise<DownTree> {
    const down: Filter = { deleted_at: null, state: 'down', ...(project !== null && { project }) };
    const [roots, children] = await Promise.all([
      this.monitors.find({ filter: { ...down, suppressed_by: null }, limit, damaged: NO_DAMAGE }),
      this.monitors.find({
        filter: { ...down, suppressed_by: { gt: '' } },
        limit: MAX_READ_MONITORS,
        damaged: NO_DAMAGE,
      }),
    ]);
    const parents = new Map(children.items.map(({ source, suppressed_by }) => [source, suppressed_by]));
    const below = new Map<string, number>();
    for (const { source } of children.items) {
      const root = findRoot(source, parents);
      below.set(root, (below.get(root) ?? 0) + 1);
    }
    const listed = new Set(roots.items.map(({ source }) => source));
    // The parent belongs to another project, or is not among the first: its children stand alone.
    const alone = children.items.filter(
      ({ source }) => roots.items.length < limit && !listed.has(findRoot(source, parents)),
    );
    return { roots: [...roots.items, ...alone].slice(0, limit), below };
  }
}

function findRoot(source: string, parents: ReadonlyMap<string, string | null>): string {
  let at = source;
  const seen = new Set<string>();
  for (let next = parents.get(at) ?? null; next !== null && !seen.has(next); next = parents.get(at) ?? null) {
    seen.add(at);
    at = next;
  }
  return at;
}

function getWeekShare(doc: MonitorDoc, now: number): number | null {
  // The running day belongs to the last 24 hours.
  const days = getDailyUptime(doc, now, COMPARED_DAYS + 1).days.slice(0, COMPARED_DAYS);
  const down = days.reduce((sum, { down_seconds }) => sum + down_seconds, 0);
  const all = days.reduce((sum, day) => sum + day.up_seconds + day.warning_seconds + day.down_seconds, 0);
  return all === 0 ? null : 1 - down / all;
}

/** @param steady monitors that were up throughout */
function getMean(shares: readonly (number | null)[], steady: number): number | null {
  const known = shares.filter((share) => share !== null);
  const n = known.length + steady;
  return n === 0 ? null : (known.reduce((sum, share) => sum + share, 0) + steady) / n;
}
