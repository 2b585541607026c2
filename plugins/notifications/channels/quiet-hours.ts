/** A daily period in a time zone, possibly across midnight. */
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

export interface QuietHours {
  /** Such as `22:00`. */
  from: string;
  to: string;
  timezone: string;
}

const parseMinutes = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

function getMinuteOfDay(ms: number, timezone: string): number {
  const text = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' }).format(ms);
  return parseMinutes(text);
}

function isMinuteWithin(minute: number, from: number, to: number): boolean {
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}

/**
 * Returns whole minutes; `ms` itself outside of them, or when both ends are equal. The offset may
 * change during the night.
 */
export function getQuietEnd(ms: number, quiet: QuietHours | null): number {
  if (quiet === null || quiet.from === quiet.to) return ms;
  const [from, to] = [parseMinutes(quiet.from), parseMinutes(quiet.to)];
  const now = getMinuteOfDay(ms, quiet.timezone);
  if (!isMinuteWithin(now, from, to)) return ms;
  const minute = Math.floor(ms / MINUTE_MS) * MINUTE_MS;
  const end = minute + ((to - now + DAY_MINUTES) % DAY_MINUTES) * MINUTE_MS;
  const shown = getMinuteOfDay(end, quiet.timezone);
  // Forward change: local time passed `to`. Backward: the hour before `to` repeats.
  const off = ((shown - to + DAY_MINUTES + DAY_MINUTES / 2) % DAY_MINUTES) - DAY_MINUTES / 2;
  return end - off * MINUTE_MS;
}
