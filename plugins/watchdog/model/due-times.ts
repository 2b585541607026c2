/**
 * Due times of a cron expression over changes of daylight saving, as Vixie cron has them (contract 30, amendments:
 * schedules). The library finds local times; which instants they are is decided here, because its own rule counts
 * lists and ranges of fixed times twice. Pure; times in ms since 1970.
 */
import type { Cron } from 'croner';
import { getUtcOffset } from '../../../lib/local-time.js';
import { DAY_MS } from '../../../lib/time.js';

/** An expression in UTC, and how it follows the clock of a zone. */
export interface CronPattern {
  /** Finds local times as if they were UTC. */
  times: Cron;
  /** Its minute or hour begins with `*`: it follows the clock on the wall. Else each named time is due once a day. */
  followsClock: boolean;
}

/** The first due time after `after`; null: there is none. */
export const findDueAfter = (pattern: CronPattern, zone: string, after: number): number | null =>
  pattern.followsClock ? findDueByClock(pattern.times, zone, after) : findDueByLocalTime(pattern.times, zone, after);

const findNextLocal = (times: Cron, local: number): number | null => times.nextRun(new Date(local))?.getTime() ?? null;

/** Each local time once: the first time of an hour that comes twice, the end of a gap for one that is skipped. */
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

/** Every instant at which the clock on the wall shows one of the local times. */
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
      // No clock moves by more than a day, so nothing is due until then, whatever changes lie between.
      from = at - 2 * DAY_MS;
      offset = getUtcOffset(from, zone);
    }
  }
}

/** The first instant with another offset than `from`; there must be one until `to`. */
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
