/** Reports crashed sessions by version (contract 21, release health). */
import { collection, inject, injectable, PORT, type Clock } from '../../kernel/contract/index.js';
import { estimateDistinct, mergeSketches } from '../../lib/text/distinct-sketch.js';
import { iteratePages } from '../../lib/paging.js';
import { DAY_MS, HOUR_MS } from '../../lib/time.js';
import type {
  ReleaseHealthQuery,
  ReleaseHealth,
  SessionCounts,
  SessionWindow,
  VersionHealth,
} from '../../ports/domain/release-health.js';
import type { Collection, Filter } from '../../ports/store/index.js';
import { getVersionName } from '../../lib/versions.js';
import { toHour, getMinute, toVersionKey, type HourDoc } from './model.js';

/** Small pages, so that other requests run in between. */
const PAGE_SIZE = 200;

export interface SessionDay {
  /** `2026-11-29`. */
  day: string;
  started: number;
  crashed: number;
}

interface VersionSum {
  version: string;
  people: string | null;
  crashed_people: string | null;
  hours: Map<string, SessionCounts>;
}

@injectable()
export class ReleaseHealthService implements ReleaseHealth {
  constructor(
    @inject(collection<HourDoc>('hours')) private readonly hours: Collection<HourDoc>,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  async listVersions({ project, hours, version, environment }: ReleaseHealthQuery): Promise<VersionHealth[]> {
    const names = this.#listHours(hours);
    // Adoption is a share of all versions, so all are read.
    const filter = { project, hour: { gte: names[0] ?? '' }, environment };
    const sums = new Map<string, VersionSum>();
    for await (const docs of iteratePages(this.hours, { filter, sort: [['hour', 'asc']], limit: PAGE_SIZE })) {
      for (const doc of docs) addHour(sums, doc);
    }
    const all = [...sums.values()].map((sum) => toVersionHealth(sum, names));
    const total = all.reduce((n, { started }) => n + started, 0);
    const wanted = version === undefined ? null : toVersionKey(version);
    return all
      .filter((one) => wanted === null || (one.version !== null && toVersionKey(one.version) === wanted))
      .map((one) => Object.assign(one, { adoption: computeShare(one.started, total) }))
      .toSorted((a, b) => b.started - a.started);
  }

  async getSessionsSince(project: string, version: string, since: string): Promise<SessionWindow> {
    const first = toHour(Date.parse(since));
    const filter: Filter = { project, version_key: toVersionKey(version), hour: { gte: first } };
    const sum = { started: 0, crashed: 0 };
    const ofCrashes = new Set<string>();
    for await (const docs of iteratePages(this.hours, { filter, sort: [['hour', 'asc']], limit: PAGE_SIZE })) {
      for (const { hour, minutes = {}, ...known } of docs) {
        for (const sender of Object.keys(known.crash_senders ?? {})) ofCrashes.add(sender);
        for (const [minute, { started = 0, crashed = 0 }] of Object.entries(minutes)) {
          if (hour === first && minute < getMinute(since)) continue;
          sum.started += started;
          sum.crashed += crashed;
        }
      }
    }
    const crashes_by_token = ofCrashes.delete('token');
    return { ...sum, crash_addresses: ofCrashes.size, crashes_by_token };
  }

  /**
   * Returns the share of sessions that did not crash; null without sessions.
   * @param project null: all
   * @param until ms since 1970
   */
  async getCrashFreeShare(project: string | null, until: number, hours: number): Promise<number | null> {
    const hour = { gt: toHour(until - hours * HOUR_MS), lte: toHour(until) };
    const filter: Filter = { hour, ...(project !== null && { project }) };
    const sum = { started: 0, crashed: 0 };
    for await (const docs of iteratePages(this.hours, { filter, sort: [['hour', 'asc']], limit: PAGE_SIZE })) {
      for (const { started = 0, crashed = 0 } of docs) {
        sum.started += started;
        sum.crashed += crashed;
      }
    }
    return sum.started === 0 ? null : 1 - Math.min(sum.crashed, sum.started) / sum.started;
  }

  /** Sessions and crashes by day (UTC), oldest first; days without sessions are missing. */
  async listDays(project: string, days: number): Promise<SessionDay[]> {
    const first = Math.floor(this.clock.now() / DAY_MS) * DAY_MS - (days - 1) * DAY_MS;
    const filter: Filter = { project, hour: { gte: toHour(first) } };
    const sums = new Map<string, SessionDay>();
    for await (const docs of iteratePages(this.hours, { filter, sort: [['hour', 'asc']], limit: PAGE_SIZE })) {
      for (const { hour, started = 0, crashed = 0 } of docs) {
        const day = hour.slice(0, 10);
        const sum = sums.get(day) ?? { day, started: 0, crashed: 0 };
        sums.set(day, { day, started: sum.started + started, crashed: sum.crashed + crashed });
      }
    }
    return [...sums.values()].filter(({ started }) => started > 0);
  }

  #listHours(hours: number): string[] {
    const now = this.clock.now();
    return Array.from({ length: hours }, (_, i) => toHour(now - (hours - 1 - i) * HOUR_MS));
  }
}

const ZERO_COUNTS: SessionCounts = { started: 0, errored: 0, crashed: 0, abnormal: 0 };

function addHour(sums: Map<string, VersionSum>, doc: HourDoc): void {
  // Another hour may use another spelling.
  const key = toVersionKey(doc.version);
  let sum = sums.get(key);
  if (sum === undefined) {
    sum = { version: getVersionName(doc.version), people: null, crashed_people: null, hours: new Map() };
    sums.set(key, sum);
  }
  sum.people = mergeSketches(sum.people, doc.people ?? null);
  sum.crashed_people = mergeSketches(sum.crashed_people, doc.crashed_people ?? null);
  const before = sum.hours.get(doc.hour) ?? ZERO_COUNTS;
  sum.hours.set(doc.hour, addCounts(before, doc));
}

const addCounts = (a: SessionCounts, b: Partial<SessionCounts>): SessionCounts => ({
  started: a.started + (b.started ?? 0),
  errored: a.errored + (b.errored ?? 0),
  crashed: a.crashed + (b.crashed ?? 0),
  abnormal: a.abnormal + (b.abnormal ?? 0),
});

function toVersionHealth(
  { version, people: sketch, crashed_people: crashedSketch, hours }: VersionSum,
  names: readonly string[],
): VersionHealth {
  const total = clampCounts([...hours.values()].reduce(addCounts, ZERO_COUNTS));
  const people = estimateDistinct(sketch);
  const crashed = Math.min(people, estimateDistinct(crashedSketch));
  return {
    version: version === '' ? null : version,
    ...total,
    crash_free_sessions: computeCrashFreeShare(total.crashed, total.started),
    people,
    crashed_people: crashed,
    crash_free_people: computeCrashFreeShare(crashed, people),
    adoption: null,
    hours: names.map((hour) => ({ hour, ...clampCounts(hours.get(hour) ?? ZERO_COUNTS) })),
  };
}

/** The subtraction of an error may fall into another hour. */
const clampCounts = (counts: SessionCounts): SessionCounts => ({ ...counts, errored: Math.max(0, counts.errored) });

/** Six digits: percentages show two decimals. */
const computeShare = (part: number, whole: number): number | null =>
  whole <= 0 ? null : Math.round((part / whole) * 1e6) / 1e6;

/** A crash may arrive without its start, so the share is clamped at 0. */
function computeCrashFreeShare(crashed: number, all: number): number | null {
  const share = computeShare(crashed, all);
  return share === null ? null : Math.max(0, Math.round((1 - share) * 1e6) / 1e6);
}
