/**
 * Decides from the existing backups whether one is due, so that restarts, moves and restores do not
 * matter.
 */

/** Delay after the start, which is busy; short-lived processes need no backup. */
const START_DELAY_MS = 600_000;
const RETRY_DELAY_MS = 3_600_000;

export interface ScheduleState {
  /** Milliseconds between two backups; 0 disables them. */
  everyMs: number;
  runningMs: number;
  /** Age of the newest backup, by the wall clock; null without one. */
  newestAgeMs: number | null;
  /** Time since this process's last attempt failed, or null. */
  failedAgoMs: number | null;
}

export function isBackupDue({ everyMs, runningMs, newestAgeMs, failedAgoMs }: ScheduleState): boolean {
  if (everyMs === 0 || runningMs < START_DELAY_MS) return false;
  if (failedAgoMs !== null && failedAgoMs < Math.min(RETRY_DELAY_MS, everyMs)) return false;
  return newestAgeMs === null || newestAgeMs >= everyMs;
}

export const isBackupOverdue = ({ everyMs, runningMs, newestAgeMs }: ScheduleState): boolean =>
  everyMs > 0 && runningMs > START_DELAY_MS + everyMs && (newestAgeMs === null || newestAgeMs > 2 * everyMs);
