/**
 * What comes by an address alone: how a monitor that such a ping made comes to its interval (contract 30, beyond the
 * specification). Cron does not say how often it calls, so silence means nothing until two calls have come. Pure.
 */
import type { MonitorDoc } from '../model/documents.js';
import { isLearning, learnedInterval } from '../model/timing.js';
import type { ReceivedHeartbeat } from './heartbeat.js';

/** A schedule that was checked. */
export interface PingSchedule {
  schedule: string;
  timezone: string;
  grace_seconds: number;
}

/** What a heartbeat by an address alone says besides. */
export interface Ping {
  /** `rid` of the run that ends with it, or empty; null: it ends none. */
  run: string | null;
  /** `?interval=`: for a monitor that has none. */
  interval: number | null;
  /** `?schedule=&timezone=&grace=`: for a monitor that has neither interval nor schedule. */
  schedule?: PingSchedule | null;
  /** It holds for one that has another as well. */
  replaces?: boolean;
}

/** An interval that was given, for a monitor that has none; null: nothing to write. */
export function given(doc: MonitorDoc, { interval, schedule, replaces }: Ping): Partial<MonitorDoc> | null {
  const { interval_seconds } = doc;
  if (schedule) {
    if ((interval_seconds !== null || doc.schedule) && replaces !== true) return null;
    const same = doc.schedule === schedule.schedule && doc.timezone === schedule.timezone;
    if (same && doc.grace_seconds === schedule.grace_seconds) return null;
    return { ...schedule, interval_seconds: null };
  }
  if (doc.schedule && replaces !== true) return null;
  if (interval === null || (interval_seconds !== null && replaces !== true)) return null;
  if (interval === interval_seconds) return null;
  return { interval_seconds: interval, ...(doc.schedule && { schedule: null, timezone: null, grace_seconds: null }) };
}

/** What a heartbeat says about the interval of a monitor that a ping address made. */
export function paced(
  before: MonitorDoc,
  heartbeat: ReceivedHeartbeat,
  ping: Ping | null,
  now: number,
): Partial<MonitorDoc> | null {
  if (ping === null) return isLearning(before) ? { learns_interval: false } : null;
  if (ping.interval !== null || ping.schedule) return given(before, ping);
  // Two that went well: a repeat after a failure says nothing about the schedule.
  if (!isLearning(before) || heartbeat.status !== 'ok' || before.last_status !== 'ok') return null;
  if (before.last_heartbeat_at === null) return null;
  return { interval_seconds: learnedInterval(now - Date.parse(before.last_heartbeat_at)) };
}
