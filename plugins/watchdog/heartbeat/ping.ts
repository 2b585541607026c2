/**
 * For monitors of ping URLs (contract 30, beyond the specification and amendments). Silence means
 * nothing until five pings arrived. Given values precede learned ones, and a schedule or period an
 * interval.
 */
import type { MonitorDoc } from '../model/documents.js';
import { isLearning, getLearnedInterval } from '../model/timing.js';
import type { ReceivedHeartbeat } from './heartbeat.js';

export interface PingTiming {
  schedule: string | null;
  timezone: string | null;
  period_seconds: number | null;
  grace_seconds: number;
}

export interface Ping {
  /** `rid` of the run, or empty; null when no run ends. */
  run: string | null;
  /** `?interval=`, for a monitor without an interval. */
  interval: number | null;
  /** `?schedule=&timezone=&grace=` or `?period=&grace=`, unless another timing exists. */
  timing?: PingTiming | null;
  maxRun?: number | null;
  /** Replaces existing timing. */
  replaces?: boolean;
}

const MIN_LEARNING_GAPS = 4;
const NO_TIMING = { schedule: null, timezone: null, period_seconds: null, grace_seconds: null } as const;

export function getTimingChanges(doc: MonitorDoc, ping: Ping): Partial<MonitorDoc> | null {
  const { maxRun = null } = ping;
  const fields = {
    ...(ping.timing ? applySchedule(doc, ping.timing, ping.replaces === true) : applyInterval(doc, ping)),
    ...(maxRun !== null && maxRun !== doc.max_run_seconds && { max_run_seconds: maxRun }),
  };
  return Object.keys(fields).length === 0 ? null : fields;
}

const hasInterval = ({ interval_seconds, interval_learned }: MonitorDoc): boolean =>
  interval_seconds !== null && interval_learned !== true;

const resetLearnedInterval = ({ interval_learned }: MonitorDoc): Partial<MonitorDoc> =>
  interval_learned === true ? { interval_learned: false } : {};

function applySchedule(doc: MonitorDoc, timing: PingTiming, replaces: boolean): Partial<MonitorDoc> {
  const other = timing.schedule === null ? doc.schedule : doc.period_seconds;
  const isFixed = hasInterval(doc) && doc.interval_by_ping !== true;
  if ((isFixed || other) && !replaces) return {};
  const names = Object.keys(timing) as (keyof PingTiming)[];
  if (names.every((name) => (doc[name] ?? null) === timing[name])) return {};
  return { ...timing, interval_seconds: null, ...resetLearnedInterval(doc) };
}

function applyInterval(doc: MonitorDoc, { interval, replaces }: Ping): Partial<MonitorDoc> {
  const isTimed = Boolean(doc.schedule) || Boolean(doc.period_seconds);
  if (interval === null || ((isTimed || hasInterval(doc)) && replaces !== true)) return {};
  return {
    ...(interval !== doc.interval_seconds && { interval_seconds: interval }),
    ...(doc.interval_by_ping !== true && { interval_by_ping: true }),
    ...(isTimed && NO_TIMING),
    ...resetLearnedInterval(doc),
  };
}

export function getIntervalChanges(
  before: MonitorDoc,
  heartbeat: ReceivedHeartbeat,
  ping: Ping | null,
  now: number,
): Partial<MonitorDoc> | null {
  if (ping === null) return isLearning(before) ? { learns_interval: false } : null;
  const timingChanges = getTimingChanges(before, ping);
  return ping.interval !== null || ping.timing
    ? timingChanges
    : { ...timingChanges, ...learnInterval(before, heartbeat, now) };
}

/** A retry after a failure says nothing about the schedule. */
function learnInterval(before: MonitorDoc, { status }: ReceivedHeartbeat, now: number): Partial<MonitorDoc> | null {
  const { last_heartbeat_at, last_status, ping_gaps = [], interval_seconds, interval_learned } = before;
  if (status !== 'ok' || last_status !== 'ok' || last_heartbeat_at === null) return null;
  const gap = now - Date.parse(last_heartbeat_at);
  // The first automatic ping extends an interval learned from manual ones.
  if (interval_learned === true && interval_seconds !== null) {
    const longer = getLearnedInterval(gap);
    return longer > interval_seconds ? { interval_seconds: longer } : null;
  }
  if (!isLearning(before)) return null;
  const gaps = [...ping_gaps, gap];
  if (gaps.length < MIN_LEARNING_GAPS) return { ping_gaps: gaps };
  return { interval_seconds: getLearnedInterval(Math.max(...gaps)), interval_learned: true, ping_gaps: [] };
}
