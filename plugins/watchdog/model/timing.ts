/** Thresholds in time (contract 30, evaluator): pure. Times are milliseconds since 1970, UTC; no zone plays a part. */
import { isoOf } from '../../../lib/time.js';
import { nextDue } from './cron.js';
import type { MonitorDoc } from './documents.js';
import { startedSince } from './run-times.js';

export const DEFAULT_INTERVAL_SECONDS = 60;
/** How late the heartbeat of a due time may be before its monitor is down. */
export const DEFAULT_GRACE_SECONDS = 3_600;
export const MAX_GRACE_SECONDS = 31_536_000;
/** A heartbeat this long before a due time is the one of that time: clocks of machines differ. */
const EARLY_MS = 30_000;
/** The shortest interval. */
export const MIN_INTERVAL_SECONDS = 0.05;
/** The longest interval, one year. */
export const MAX_INTERVAL_SECONDS = 31_536_000;
/** A deferred alarm waits this long at least. */
const DEFER_MS = 60_000;
/** Due at the next run, whenever that is. */
export const AT_ONCE = '1970-01-01T00:00:00.000Z';

/** Whether a maintenance window holds its state: heartbeats and silence change nothing until it ends. */
export const isHeld = ({ maintenance_id, maintenance_until }: MonitorDoc, now: number): boolean =>
  typeof maintenance_id === 'string' && Date.parse(maintenance_until ?? '') > now;

/** The monitor as the evaluator judges it: after a window in the state that it goes on in. */
export const afterMaintenance = (doc: MonitorDoc, now: number): MonitorDoc =>
  typeof doc.maintenance_id !== 'string' || isHeld(doc, now) ? doc : { ...doc, state: doc.held_state ?? 'unknown' };

type Timed = Pick<MonitorDoc, 'beat_interval' | 'interval_seconds' | 'learns_interval' | 'schedule'>;

/** Whether it has no interval yet: its silence means nothing. */
export const isLearning = ({ beat_interval, interval_seconds, learns_interval, schedule }: Timed): boolean =>
  learns_interval === true && beat_interval === null && interval_seconds === null && !schedule;

/** Effective interval in seconds: the heartbeat's, else the configured one, else 60. */
export const intervalOf = ({ beat_interval, interval_seconds }: Timed): number =>
  beat_interval ?? interval_seconds ?? DEFAULT_INTERVAL_SECONDS;

/** Half as much again as the time between two pings, at least 60 s, in whole seconds. */
export const learnedInterval = (ms: number): number =>
  Math.min(MAX_INTERVAL_SECONDS, Math.max(DEFAULT_INTERVAL_SECONDS, Math.ceil((ms * 1.5) / 1000)));

/** When silence since `from` becomes a warning, and when down: from the millisecond after it. */
export function thresholds(from: number, interval: number): { warn: number; down: number } {
  return { warn: from + Math.floor(interval * 2000), down: from + Math.floor(interval * 4000) };
}

/**
 * When silence since `from` becomes a warning, and when down: by the interval, or by the schedule. There the due time
 * is the first one after the heartbeat, and the grace follows it. A run that has begun has the grace from its start.
 */
export function limitsOf(doc: MonitorDoc, from: number): { warn: number; down: number } {
  const { schedule, timezone, grace_seconds } = doc;
  if (!schedule) return thresholds(from, intervalOf(doc));
  const grace = (grace_seconds ?? DEFAULT_GRACE_SECONDS) * 1000;
  const begun = startedSince(doc.starts, Date.parse(doc.last_heartbeat_at ?? '') || 0);
  if (begun !== null) return { warn: begun + grace, down: begun + grace };
  const due = nextDue(schedule, timezone ?? 'UTC', from + EARLY_MS) ?? Infinity;
  return { warn: due, down: due + grace };
}

/** When a suppressed monitor that nothing suppresses any more may alarm. */
export const alarmAt = (released: number, interval: number): number => released + Math.max(interval * 1000, DEFER_MS);

/**
 * The due index: a run reads documents whose time lies before now. @param credit of the service's own outages, in ms
 */
export function nextCheck(doc: MonitorDoc, credit = 0): string | null {
  if (doc.deleted_at !== null) return null;
  if (doc.relook) return AT_ONCE;
  // Due at the end itself, where the index looks for times before now.
  if (doc.maintenance_id && doc.maintenance_until) return isoOf(Date.parse(doc.maintenance_until) - 1);
  if (doc.state === 'down') {
    if (doc.alarm !== 'suppressed' || doc.released_at === null) return null;
    // Due at the time itself, where the index looks for times before now.
    return isoOf(alarmAt(Date.parse(doc.released_at), intervalOf(doc)) - 1);
  }
  if (doc.last_heartbeat_at === null || (doc.state !== 'up' && doc.state !== 'warning')) return null;
  if (isLearning(doc)) return null;
  const { warn, down } = limitsOf(doc, Date.parse(doc.last_heartbeat_at) + credit);
  return Number.isFinite(warn) ? isoOf(doc.state === 'up' && doc.probed !== true ? warn : down) : null;
}

/**
 * The due time that a heartbeat writes. One that comes long before it is expected leaves an earlier due time in place,
 * by at most a quarter of the interval: a monitor that beats more often than it says then costs the due index nothing,
 * and the evaluator, should it look too early, writes the right one.
 */
export function eased(doc: MonitorDoc, before: MonitorDoc): string | null {
  const due = nextCheck(doc);
  const known = before.next_check_at;
  if (doc.schedule || due === null || known === null || known > due || doc.state === 'down' || doc.relook) return due;
  return Date.parse(due) - Date.parse(known) < intervalOf(doc) * 250 ? known : due;
}
