/** Thresholds in time (contract 30, evaluator): pure. Times are milliseconds since 1970, UTC; no zone plays a part. */
import { isoOf } from '../../../lib/time.js';
import { getNextDue } from './cron.js';
import type { MonitorDoc } from './documents.js';
import { findStartSince } from './run-times.js';

export const DEFAULT_INTERVAL_SECONDS = 60;
/** How late the heartbeat of a due time may be before its monitor is down. */
export const DEFAULT_GRACE_SECONDS = 3_600;
export const MAX_GRACE_SECONDS = 31_536_000;
/** A heartbeat this long before a due time is the one of that time: clocks of machines differ. */
const EARLY_TOLERANCE_MS = 30_000;
/** The shortest interval. */
export const MIN_INTERVAL_SECONDS = 0.05;
/** The longest interval, one year. */
export const MAX_INTERVAL_SECONDS = 31_536_000;
/** A deferred alarm waits this long at least. */
const MIN_DEFER_MS = 60_000;
/** Due at the next run, whenever that is. */
export const DUE_IMMEDIATELY = '1970-01-01T00:00:00.000Z';

/** Whether a maintenance window holds its state: heartbeats and silence change nothing until it ends. */
export const isHeld = ({ maintenance_id, maintenance_until }: MonitorDoc, now: number): boolean =>
  typeof maintenance_id === 'string' && Date.parse(maintenance_until ?? '') > now;

/** Whether a silence holds its alarms back. */
export const isSilenced = ({ silence_id, silence_until }: MonitorDoc, now: number): boolean =>
  typeof silence_id === 'string' && Date.parse(silence_until ?? '') > now;

/** Returns the monitor as the evaluator sees it: after a window, in its held state. */
export const restoreHeldState = (doc: MonitorDoc, now: number): MonitorDoc =>
  typeof doc.maintenance_id !== 'string' || isHeld(doc, now) ? doc : { ...doc, state: doc.held_state ?? 'unknown' };

type TimingSource = Pick<
  MonitorDoc,
  'beat_interval' | 'interval_seconds' | 'learns_interval' | 'schedule' | 'period_seconds'
>;

/** Whether it has no interval yet: its silence means nothing. */
export const isLearning = ({
  beat_interval,
  interval_seconds,
  learns_interval,
  schedule,
  period_seconds,
}: TimingSource): boolean =>
  learns_interval === true && beat_interval === null && interval_seconds === null && !schedule && !period_seconds;

/** Effective interval in seconds: the heartbeat's, else the configured one, else 60. */
export const getIntervalSeconds = ({ beat_interval, interval_seconds }: TimingSource): number =>
  beat_interval ?? interval_seconds ?? DEFAULT_INTERVAL_SECONDS;

/** The shortest interval that pings teach, so that a few made by hand teach none. */
const MIN_LEARNED_SECONDS = 300;

/** Half as much again as the time between two pings, at least 300 s, in whole seconds. */
export const getLearnedInterval = (ms: number): number =>
  Math.min(MAX_INTERVAL_SECONDS, Math.max(MIN_LEARNED_SECONDS, Math.ceil((ms * 1.5) / 1000)));

/** When silence since `from` becomes a warning, and when down: from the millisecond after it. */
export function getSilenceThresholds(from: number, interval: number): { warn: number; down: number } {
  return { warn: from + Math.floor(interval * 2000), down: from + Math.floor(interval * 4000) };
}

interface Limits {
  warn: number;
  down: number;
}

/** How long a run may take, in ms: its limit, else the grace; without either four intervals, at least an hour. */
export function getRunLimit(doc: MonitorDoc): number {
  const { max_run_seconds, grace_seconds } = doc;
  const silence = isLearning(doc) ? 0 : 4 * getIntervalSeconds(doc);
  return (max_run_seconds ?? grace_seconds ?? Math.max(DEFAULT_GRACE_SECONDS, silence)) * 1000;
}

/**
 * When the oldest run that is under way began; null: none. One whose limit was over before the last heartbeat has been
 * judged, and counts no more.
 */
export const findRunStart = (doc: MonitorDoc): number | null =>
  findStartSince(doc.starts, (Date.parse(doc.last_heartbeat_at ?? '') || 0) - getRunLimit(doc));

/**
 * When silence since `from` becomes a warning, and when down: by the interval, by period and grace, or by the schedule,
 * whose due time is the first one after the heartbeat. A run that has begun has come in time, and has its limit.
 * @param from the last heartbeat; NaN: there was none
 * @param credit of the service's own outages, in ms; contained in `from`
 */
export function getLimits(doc: MonitorDoc, from: number, credit = 0): Limits {
  const begun = findRunStart(doc);
  const end = begun === null ? Infinity : begun + getRunLimit(doc) + credit;
  const startsCount = doc.schedule || doc.period_seconds || Number.isNaN(from) || isLearning(doc);
  if (begun !== null && startsCount) return { warn: end, down: end };
  const { warn, down } = getSilenceLimits(doc, from);
  return { warn: Math.min(warn, end), down: Math.min(down, end) };
}

function getSilenceLimits(doc: MonitorDoc, from: number): Limits {
  const { schedule, timezone, period_seconds, grace_seconds } = doc;
  const grace = (grace_seconds ?? DEFAULT_GRACE_SECONDS) * 1000;
  if (period_seconds) return { warn: from + period_seconds * 1000, down: from + period_seconds * 1000 + grace };
  if (!schedule) return getSilenceThresholds(from, getIntervalSeconds(doc));
  const due = getNextDue(schedule, timezone ?? 'UTC', from + EARLY_TOLERANCE_MS) ?? Infinity;
  return { warn: due, down: due + grace };
}

/** Of a monitor that is watched: by its silence, or by a run that is under way. Null: nothing is expected. */
export function getWatchedLimits(doc: MonitorDoc, credit = 0): Limits | null {
  const isUp = doc.state === 'up' || doc.state === 'warning';
  if (doc.deleted_at !== null || !(isUp || doc.state === 'unknown')) return null;
  const watchesSilence = isUp && doc.last_heartbeat_at !== null && !isLearning(doc);
  if (!watchesSilence && findRunStart(doc) === null) return null;
  return getLimits(doc, Date.parse(doc.last_heartbeat_at ?? '') + credit, credit);
}

/** When a suppressed monitor that nothing suppresses any more may alarm. */
export const getDeferredAlarmTime = (released: number, interval: number): number =>
  released + Math.max(interval * 1000, MIN_DEFER_MS);

/**
 * The due index: a run reads documents whose time lies before now. @param credit of the service's own outages, in ms
 */
export function getNextCheck(doc: MonitorDoc, credit = 0): string | null {
  if (doc.deleted_at !== null) return null;
  if (doc.relook) return DUE_IMMEDIATELY;
  const due = getNextStateCheck(doc, credit);
  if (typeof doc.silence_id !== 'string' || !doc.silence_until) return due;
  const end = isoOf(Date.parse(doc.silence_until) - 1);
  return due === null || end < due ? end : due;
}

/** As `getNextCheck`, without the end of its silence. */
function getNextStateCheck(doc: MonitorDoc, credit: number): string | null {
  // Due at the end itself, where the index looks for times before now.
  if (doc.maintenance_id && doc.maintenance_until) return isoOf(Date.parse(doc.maintenance_until) - 1);
  if (doc.state === 'down') {
    if (doc.alarm !== 'suppressed' || doc.released_at === null) return null;
    // Due at the time itself, where the index looks for times before now.
    return isoOf(getDeferredAlarmTime(Date.parse(doc.released_at), getIntervalSeconds(doc)) - 1);
  }
  const limits = getWatchedLimits(doc, credit);
  if (limits === null) return null;
  const { warn, down } = limits;
  return Number.isFinite(warn) ? isoOf(doc.state === 'up' && doc.probed !== true ? warn : down) : null;
}

/**
 * The due time that a heartbeat writes. One that comes long before it is expected leaves an earlier due time in place,
 * by at most a quarter of the interval: a monitor that beats more often than it says then costs the due index nothing,
 * and the evaluator, should it look too early, writes the right one.
 */
export function relaxNextCheck(doc: MonitorDoc, before: MonitorDoc): string | null {
  const due = getNextCheck(doc);
  const known = before.next_check_at;
  if (
    doc.schedule ||
    doc.period_seconds ||
    doc.starts ||
    due === null ||
    known === null ||
    known > due ||
    doc.state === 'down' ||
    doc.relook
  )
    return due;
  return Date.parse(due) - Date.parse(known) < getIntervalSeconds(doc) * 250 ? known : due;
}
