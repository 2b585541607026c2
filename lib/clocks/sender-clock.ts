/** Times of a sender whose clock is wrong (contract 21, amendments). Pure. */
import { isoOf, MINUTE_MS } from '../time.js';

/** Below this difference the sender's clock counts as right: a request takes time too. */
const TOLERANCE_MS = MINUTE_MS;
/** The last millisecond of a Date. */
const LAST_MS = 8.64e15;

/**
 * The time on this service's clock: the sender stated when it sent the report, so the difference to the time of receipt
 * is the fault of its clock. What was stored offline and sent later keeps its time.
 * @param at RFC 3339; null: the sender stated none
 * @param sentAt RFC 3339; null: not stated
 * @param received milliseconds
 */
export function correctSenderTime(at: string | null, sentAt: string | null, received: number): string | null {
  if (at === null || sentAt === null) return at;
  const difference = received - Date.parse(sentAt);
  if (Number.isNaN(difference) || Math.abs(difference) <= TOLERANCE_MS) return at;
  const corrected = Date.parse(at) + difference;
  return Math.abs(corrected) <= LAST_MS ? isoOf(corrected) : at;
}
