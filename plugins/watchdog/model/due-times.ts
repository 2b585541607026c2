/**
 * Daylight saving as in Vixie cron (contract 30, amendments: schedules). croner only finds local
 * times, because it repeats lists and ranges of fixed times. Times in ms since 1970.
 */
import type { Cron } from 'croner';
import { getUtcOffset } from '../../../lib/local-time.js';
import { DAY_MS } from '../../../lib/time.js';

export interface CronPattern {
  times: Cron;
  /** Begins with `*`; otherwise each time is due once a day. */
  followsWallClock: boolean;
}

export const findDueAfter = (pattern: CronPattern, zone: string, after: number): number | null =>
  pattern.followsWallClock
    ? findDueByClock(pattern.times, zone, after)
    : findDueByLocalTime(pattern.times, zone, after);

const findNextLocal = (times: Cron, local: number): number | null => times.nextRun(new Date(local))?.getTime() ?? null;

/** The first occurrence of a repeated hour, the end of the gap for a skipped one. */
function findDueByLocalTime(times: Cron, zone: string, after: number): number | null {
  for (
    let local = findNextLocal(times, after + getUtcOffset(after, zone));
    local !== null;
    local = findNextLocal(times, local)
  ) {
    const at = toInstant(local, zone);
    if (at > after) return at;
  }
  return null;
}

function toInstant(local: number, zone: string): number {
  const [before, behind] = [getUtcOffset(local - DAY_MS, zone), getUtcOffset(local + DAY_MS, zone)];
  if (before === behind) return local - before;
  const instants = [local - before, local - behind].filter((at) => at + getUtcOffset(at, zone) === local);
  return instants.length > 0 ? Math.min(...instants) : findOffsetChange(local - DAY_MS, local + DAY_MS, zone);
}

function findDueByClock(times: Cron, zone: string, after: number): number | null {
  let from = after;
  let offset = getUtcOffset(after, zone);
  for (;;) {
    const local = findNextLocal(times, from + offset);
    if (local === null) return null;
    const at = local - offset;
    const near = Math.min(at, from + 2 * DAY_MS);
    if (getUtcOffset(near, zone) !== offset) {
      const change = findOffsetChange(from, near, zone);
      offset = getUtcOffset(change, zone);
      from = change - 1;
    } else if (near === at) return at;
    else {
      // No offset changes by more than a day.
      from = at - 2 * DAY_MS;
      offset = getUtcOffset(from, zone);
    }
  }
}

/** The change must exist before `to`. */
function findOffsetChange(from: number, to: number, zone: string): number {
  const offset = getUtcOffset(from, zone);
  let [same, other] = [from, to];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (getUtcOffset(middle, zone) === offset) same = middle;
    else other = middle;
  }
  return other;
}
