/**
 * Whether a stored time is long enough ago, where the clock that wrote it may have been ahead and was put back since
 * (contract 95, a bad day). A time that lies ahead says nothing: it keeps nothing waiting until the clock is there.
 */
import { isoOf, MINUTE_MS } from '../time.js';

/** The clocks of two machines differ by less: a time further ahead is of a clock that was put back since. */
export const AHEAD_MS = MINUTE_MS;

/** True: `at` (RFC 3339) is `ms` ago or more, or lies ahead. @param now milliseconds since 1970 */
export function hasElapsed(at: string, ms: number, now: number): boolean {
  const age = now - Date.parse(at);
  return age >= ms || age < -AHEAD_MS;
}

/** The same of a stored field, as a filter. */
export const elapsed = (field: string, ms: number, now: number): { or: Record<string, object>[] } => ({
  or: [{ [field]: { gt: '', lte: isoOf(now - ms) } }, { [field]: { gt: isoOf(now + AHEAD_MS) } }],
});
