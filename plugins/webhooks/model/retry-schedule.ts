const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Delay after the first, second, … failure. After the last one the delivery is exhausted. */
export const DELAYS_MS: readonly number[] = [
  10 * SECOND,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
];

const JITTER = 0.2;

export interface FailedAttempt {
  status_code: number | null;
  /** `Retry-After` relative to the attempt, or null. */
  retry_after_ms: number | null;
}

/**
 * @param failures of this delivery, including this one
 * @param random 0 ≤ x < 1
 * @returns the delay, or null when the delivery has ended
 */
export function getRetryDelay(failures: number, failure: FailedAttempt, random: number): number | null {
  const delay = DELAYS_MS[failures - 1];
  if (delay === undefined || failure.status_code === 410) return null;
  const jitter = 1 - JITTER + 2 * JITTER * random;
  if (failure.status_code !== 429 && failure.status_code !== 503) return Math.round(delay * jitter);
  const base = Math.max(delay, MINUTE);
  const asked = Math.min(failure.retry_after_ms ?? 0, 2 * base);
  return Math.round(Math.max(base * jitter, MINUTE, asked));
}

export const getMaxDelay = (failures: number): number => 2 * Math.max(DELAYS_MS[failures - 1] ?? 0, MINUTE);

/**
 * Accepts seconds or an HTTP date.
 * @param now Unix milliseconds
 * @returns milliseconds from now, or null when invalid
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,20}$/.test(text)) return Number(text) * SECOND;
  const at = /[a-z]/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
