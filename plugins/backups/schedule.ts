/**
 * Whether a backup is due, from what lies in the folder: a restart, another machine and a restored store change nothing
 * of it.
 */

/** A process that has just started has other things to do, and one that lives for a moment needs no backup. */
const SETTLED_MS = 600_000;
/** After one that failed. */
const AGAIN_MS = 3_600_000;

export interface ScheduleState {
  /** Milliseconds between two; 0: never. */
  everyMs: number;
  /** Of the process, by the monotonic clock. */
  runningMs: number;
  /** Since the newest one was made, by the wall clock; null: there is none. */
  newestAgeMs: number | null;
  /** Since the last try of this process failed; null: it did not. */
  failedAgoMs: number | null;
}

export function isDue({ everyMs, runningMs, newestAgeMs, failedAgoMs }: ScheduleState): boolean {
  if (everyMs === 0 || runningMs < SETTLED_MS) return false;
  if (failedAgoMs !== null && failedAgoMs < Math.min(AGAIN_MS, everyMs)) return false;
  return newestAgeMs === null || newestAgeMs >= everyMs;
}

/** Overdue by so much that somebody has to look. */
export const isOverdue = ({ everyMs, runningMs, newestAgeMs }: ScheduleState): boolean =>
  everyMs > 0 && runningMs > SETTLED_MS + everyMs && (newestAgeMs === null || newestAgeMs > 2 * everyMs);
