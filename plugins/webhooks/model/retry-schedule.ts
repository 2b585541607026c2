const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** After the n-th failure; then the delivery is exhausted. */
export const RETRY_DELAYS_MS: readonly number[] = [
  10 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
];

const JITTER_RATIO = 0.2;

export interface FailedAttempt {
  status_code: number | null;
  /** Relative to the attempt. */
  retry_after_ms: number | null;
}

/**
 * @param failures of this delivery, including this one
 * @param random 0 ≤ x < 1
 * @returns null when the delivery has ended
 */
export function getDeliveryRetryDelay(failures: number, failure: FailedAttempt, random: number): number | null {
  const delay = RETRY_DELAYS_MS[failures - 1];
  if (delay === undefined || failure.status_code === 410) return null;
  const jitter = 1 - JITTER_RATIO + 2 * JITTER_RATIO * random;
  if (failure.status_code !== 429 && failure.status_code !== 503) return Math.round(delay * jitter);
  const base = Math.max(delay, MINUTE_MS);
  const requestedDelay = Math.min(failure.retry_after_ms ?? 0, 2 * base);
  return Math.round(Math.max(base * jitter, MINUTE_MS, requestedDelay));
}

export const getMaxRetryDelay = (failures: number): number =>
  2 * Math.max(RETRY_DELAYS_MS[failures - 1] ?? 0, MINUTE_MS);

/**
 * Seconds or an HTTP date.
 * @param now Unix milliseconds
 * @returns milliseconds from now, or null when invalid
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,20}$/.test(text)) return Number(text) * SECOND_MS;
  const at = /[a-z]/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
