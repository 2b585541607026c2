/** How long a cached answer about a license holds without the server (contract 90, SDK, grace). Pure. */

const HOUR_MS = 3_600_000;
/** A clock may be set right by so much. */
const TOLERANCE_MS = 5 * 60_000;

/** The most that a project can say (contract 15, fields); whatever a file says beyond that was not the service. */
const LONGEST_HOURS = 8_760;

export interface Grace {
  /** Milliseconds since 1970. */
  checkedAt: number;
  ttlHours: number;
  expiresAt: string | null;
}

/** The clock was set back: a grace period could be had for ever. */
export const isSetBack = (now: number, highestSeen: number): boolean => now < highestSeen - TOLERANCE_MS;

/** Times that cannot be read compare false, so each is asked for what must hold. */
export const isWithinGrace = ({ checkedAt, ttlHours, expiresAt }: Grace, now: number): boolean =>
  now < checkedAt + Math.min(ttlHours, LONGEST_HOURS) * HOUR_MS && (expiresAt === null || now < Date.parse(expiresAt));
