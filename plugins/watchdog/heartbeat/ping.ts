/**
 * What comes by an address alone: how a monitor that such a ping made comes to its interval (contract 30, beyond the
 * specification). Cron does not say how often it calls, so silence means nothing until two calls have come. Pure.
 */
import type { MonitorDoc } from '../model/documents.js';
import { isLearning, learnedInterval } from '../model/timing.js';
import type { Heartbeat } from './heartbeat.js';

/** What a heartbeat by an address alone says besides. */
export interface Ping {
  /** `rid` of the run that ends with it, or empty; null: it ends none. */
  run: string | null;
  /** `?interval=`: for a monitor that has none. */
  interval: number | null;
  /** It holds for one that has another as well. */
  replaces?: boolean;
}

/** An interval that was given, for a monitor that has none; null: nothing to write. */
export function given({ interval_seconds }: MonitorDoc, { interval, replaces }: Ping): Partial<MonitorDoc> | null {
  if (interval === null || (interval_seconds !== null && replaces !== true)) return null;
  return interval === interval_seconds ? null : { interval_seconds: interval };
}

/** What a heartbeat says about the interval of a monitor that a ping address made. */
export function paced(
  before: MonitorDoc,
  heartbeat: Heartbeat,
  ping: Ping | null,
  now: number,
): Partial<MonitorDoc> | null {
  if (ping === null) return isLearning(before) ? { learns_interval: false } : null;
  if (ping.interval !== null) return given(before, ping);
  // Two that went well: a repeat after a failure says nothing about the schedule.
  if (!isLearning(before) || heartbeat.status !== 'ok' || before.last_status !== 'ok') return null;
  if (before.last_heartbeat_at === null) return null;
  return { interval_seconds: learnedInterval(now - Date.parse(before.last_heartbeat_at)) };
}
