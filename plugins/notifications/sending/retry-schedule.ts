/** When a notification that was not taken is sent again (contract 30, amendments). Pure. */
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.js';

const DELAY_MINUTES: readonly number[] = [1, 5, 15, 60];
/** After the first attempt; afterwards the notification has ended without success. */
export const GIVE_UP_MS = 24 * HOUR_MS;

/** @param attempts failed ones, at least 1 @param atLeastMs the delay that the receiver requests */
export function getNotificationRetryDelay(attempts: number, atLeastMs = 0): number {
  return Math.max((DELAY_MINUTES[attempts - 1] ?? 60) * MINUTE_MS, atLeastMs);
}
