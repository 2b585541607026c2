import { HOUR_MS, MINUTE_MS } from '../../../lib/time.js';

const RETRY_DELAY_MINUTES: readonly number[] = [1, 5, 15, 60];
/** Since the first attempt. */
export const MAX_RETRY_DURATION_MS = 24 * HOUR_MS;

export function getNotificationRetryDelay(attempts: number, atLeastMs = 0): number {
  return Math.max((RETRY_DELAY_MINUTES[attempts - 1] ?? 60) * MINUTE_MS, atLeastMs);
}
