/** Grace period of cached license answers without the server (contract 90, SDK, grace). */

const HOUR_MS = 3_600_000;
/** Tolerated backwards clock correction. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/**
 * Maximum of the project setting (contract 15, fields); larger values in a file do not come from
 * the service.
 */
const MAX_GRACE_HOURS = 8_760;

export interface GracePeriod {
  /** Milliseconds since 1970. */
  checkedAt: number;
  ttlHours: number;
  expiresAt: string | null;
}

/** Detects that the clock moved backwards, which could extend a grace period forever. */
export const isClockSetBack = (now: number, highestSeen: number): boolean => now < highestSeen - CLOCK_TOLERANCE_MS;

/** Comparisons are written so that invalid dates yield false. */
export const isWithinGrace = ({ checkedAt, ttlHours, expiresAt }: GracePeriod, now: number): boolean =>
  now < checkedAt + Math.min(ttlHours, MAX_GRACE_HOURS) * HOUR_MS &&
  (expiresAt === null || now < Date.parse(expiresAt));
