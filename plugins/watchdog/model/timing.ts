/** Thresholds of silence (contract 30, evaluator), in ms since 1970. */
import { toIsoString } from '../../../lib/time.js';
import { getNextDue } from './cron.js';
import type { MonitorDoc } from './documents.js';
import { findStartSince } from './run-times.js';

export const DEFAULT_INTERVAL_SECONDS = 60;
export const DEFAULT_GRACE_SECONDS = 3_600;
export const MAX_GRACE_SECONDS = 31_536_000;
/** Clocks differ: such a heartbeat counts for the due time. */
const EARLY_TOLERANCE_MS = 30_000;
export const MIN_INTERVAL_SECONDS = 0.05;
export const MAX_INTERVAL_SECONDS = 31_536_000;
const MIN_DEFER_MS = 60_000;
export const DUE_IMMEDIATELY = '1970-01-01T00:00:00.000Z';

/**
 * Whether a maintenance window holds its state, which then neither heartbeats nor silence change.
 */
export const isInMaintenance = ({ maintenance_id, maintenance_until }: MonitorDoc, now: number): boolean =>
  typeof maintenance_id === 'string' && Date.parse(maintenance_until ?? '') > now;

export const isSilenced = ({ silence_id, silence_until }: MonitorDoc, now: number): boolean =>
  typeof silence_id === 'string' && Date.parse(silence_until ?? '') > now;

export const restoreHeldState = (doc: MonitorDoc, now: number): MonitorDoc =>
  typeof doc.maintenance_id !== 'string' || isInMaintenance(doc, now)
    ? doc
    : { ...doc, state: doc.held_state ?? 'unknown' };

type TimingSource = Pick<
  MonitorDoc,
  'beat_interval' | 'interval_seconds' | 'learns_interval' | 'schedule' | 'period_seconds'
>;

export const isLearning = ({
  beat_interval,
  interval_seconds,
  learns_interval,
  schedule,
  period_seconds,
}: TimingSource): boolean =>
  learns_interval === true && beat_interval === null && interval_seconds === null && !schedule && !period_seconds;

/** Returns the heartbeat's, else the configured one, else 60. */
export const getIntervalSeconds = ({ beat_interval, interval_seconds }: TimingSource): number =>
  beat_interval ?? interval_seconds ?? DEFAULT_INTERVAL_SECONDS;

const MIN_LEARNED_SECONDS = 300;

export const getLearnedInterval = (ms: number): number =>
  Math.min(MAX_INTERVAL_SECONDS, Math.max(MIN_LEARNED_SECONDS, Math.ceil((ms * 1.5) / 1000)));

export function getSilenceThresholds(from: number, interval: number): { warn: number; down: number } {
  return { warn: from + Math.floor(interval * 2000), down: from + Math.floor(interval * 4000) };
}

interface SilenceLimits {
  warn: number;
  down: number;
}

/** Returns milliseconds: its limit, else the grace, else four intervals but at least an hour. */
export function getRunLimit(doc: MonitorDoc): number {
  const { max_run_seconds, grace_seconds } = doc;
  const silence = isLearning(doc) ? 0 : 4 * getIntervalSeconds(doc);
  return (max_run_seconds ?? grace_seconds ?? Math.max(DEFAULT_GRACE_SECONDS, silence)) * 1000;
}

/** Returns null without one. A run whose limit passed before the last heartbeat is ignored. */
export const findRunStart = (doc: MonitorDoc): number | null =>
  findStartSince(doc.starts, (Date.parse(doc.last_heartbeat_at ?? '') || 0) - getRunLimit(doc));

/**
 * An open run counts as on time until its limit.
 * @param from the last heartbeat; NaN without one
 * @param credit of the service's own outages, in ms; contained in `from`
 */
export function getLimits(doc: MonitorDoc, from: number, credit = 0): SilenceLimits {
  const begun = findRunStart(doc);
  const end = begun === null ? Infinity : begun + getRunLimit(doc) + credit;
  const startsCount = doc.schedule || doc.period_seconds || Number.isNaN(from) || isLearning(doc);
  if (begun !== null && startsCount) return { warn: end, down: end };
  const { warn, down } = getSilenceLimits(doc, from);
  return { warn: Math.min(warn, end), down: Math.min(down, end) };
}

function getSilenceLimits(doc: MonitorDoc, from: number): SilenceLimits {
  const { schedule, timezone, period_seconds, grace_seconds } = doc;
  const grace = (grace_seconds ?? DEFAULT_GRACE_SECONDS) * 1000;
  if (period_seconds) return { warn: from + period_seconds * 1000, down: from + period_seconds * 1000 + grace };
  if (!schedule) return getSilenceThresholds(from, getIntervalSeconds(doc));
  const due = getNextDue(schedule, timezone ?? 'UTC', from + EARLY_TOLERANCE_MS) ?? Infinity;
  return { warn: due, down: due + grace };
}

/** Returns limits of silence or an open run; null when nothing is expected. */
export function getActiveLimits(doc: MonitorDoc, credit = 0): SilenceLimits | null {
  const isUp = doc.state === 'up' || doc.state === 'warning';
  if (doc.deleted_at !== null || !(isUp || doc.state === 'unknown')) return null;
  const watchesSilence = isUp && doc.last_heartbeat_at !== null && !isLearning(doc);
  if (!watchesSilence && findRunStart(doc) === null) return null;
  return getLimits(doc, Date.parse(doc.last_heartbeat_at ?? '') + credit, credit);
}

export const getDeferredAlarmTime = (released: number, interval: number): number =>
  released + Math.max(interval * 1000, MIN_DEFER_MS);

/**
 * A run reads monitors whose time lies in the past.
 * @param credit of the service's own outages, in ms
 */
export function getNextCheck(doc: MonitorDoc, credit = 0): string | null {
  if (doc.deleted_at !== null) return null;
  if (doc.relook) return DUE_IMMEDIATELY;
  const due = getNextStateCheck(doc, credit);
  if (typeof doc.silence_id !== 'string' || !doc.silence_until) return due;
  const end = toIsoString(Date.parse(doc.silence_until) - 1);
  return due === null || end < due ? end : due;
}

/** Without the end of its silence. */
function getNextStateCheck(doc: MonitorDoc, credit: number): string | null {
  // The index finds earlier times; the end itself must be due.
  if (doc.maintenance_id && doc.maintenance_until) return toIsoString(Date.parse(doc.maintenance_until) - 1);
  if (doc.state === 'down') {
    if (doc.alarm !== 'suppressed' || doc.released_at === null) return null;
    // The index finds earlier times; the time itself must be due.
    return toIsoString(getDeferredAlarmTime(Date.parse(doc.released_at), getIntervalSeconds(doc)) - 1);
  }
  const limits = getActiveLimits(doc, credit);
  if (limits === null) return null;
  const { warn, down } = limits;
  return Number.isFinite(warn) ? toIsoString(doc.state === 'up' && doc.probed !== true ? warn : down) : null;
}

/**
 * An early heartbeat leaves the existing one, at most a quarter of the interval early, to save
 * index updates; the evaluator corrects it.
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
