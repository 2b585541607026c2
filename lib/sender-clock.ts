import { toIsoString, MINUTE_MS } from './time.js';

/** Smaller differences may be transmission time. */
const TOLERANCE_MS = MINUTE_MS;
const MAX_DATE_MS = 8.64e15;

/**
 * Converts a sender's time to this service's clock (contract 21, amendments); reports stored
 * offline keep their time.
 * @param at RFC 3339, or null
 * @param sentAt RFC 3339, or null
 * @param received milliseconds
 */
export function correctSenderTime(at: string | null, sentAt: string | null, received: number): string | null {
  if (at === null || sentAt === null) return at;
  const difference = received - Date.parse(sentAt);
  if (Number.isNaN(difference) || Math.abs(difference) <= TOLERANCE_MS) return at;
  const corrected = Date.parse(at) + difference;
  return Math.abs(corrected) <= MAX_DATE_MS ? toIsoString(corrected) : at;
}
