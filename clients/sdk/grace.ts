/** Grace period of cached license answers without the server (contract 90, SDK, grace). */

const HOUR_MS = 3_600_000;
/** Tolerated backwards clock correction. */
const TOLERANCE_MS = 5 * 60_000;

/**
 * Maximum of the project setting (contract 15, fields); larger values in a file do not come from
 * the service.
 */
const LONGEST_HOURS = 8_760;

export interface Grace {
  /** Milliseconds since 1970. */
  checkedAt: number;
  ttlHours: number;
  expiresAt: string | null;
}

/** Detects that the clock moved backwards, which could extend a grace period forever. */
export const isSetBack = (now: number, highestSeen: number): boolean => now < highestSeen - TOLERANCE_MS;

/** Comparisons are written so that invalid dates yield false. */
export const isWithinGrace = ({ checkedAt, ttlHours, expiresAt }: Grace, now: number): boolean =>
  now < checkedAt + Math.min(ttlHours, LONGEST_HOURS) * HOUR_MS && (expiresAt === null || now < Date.parse(expiresAt));
