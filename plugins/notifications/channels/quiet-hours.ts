/** Quiet hours: a span of the day in a time zone, which may lie over midnight. Pure. */
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

export interface Quiet {
  /** `22:00`, in the zone. */
  from: string;
  to: string;
  /** IANA name. */
  timezone: string;
}

const parseMinutes = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

/** Minutes since midnight in the zone. */
function getMinuteOfDay(ms: number, timezone: string): number {
  const text = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' }).format(ms);
  return parseMinutes(text);
}

function isWithin(minute: number, from: number, to: number): boolean {
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}

/**
 * When the quiet that `ms` lies in is over, in whole minutes; `ms` itself outside of it, and where both ends are the
 * same. The clock is read again at the end it computed, so that a night in which clocks change is as long as it is.
 */
export function getQuietEnd(ms: number, quiet: Quiet | null): number {
  if (quiet === null || quiet.from === quiet.to) return ms;
  const [from, to] = [parseMinutes(quiet.from), parseMinutes(quiet.to)];
  const now = getMinuteOfDay(ms, quiet.timezone);
  if (!isWithin(now, from, to)) return ms;
  const minute = Math.floor(ms / MINUTE_MS) * MINUTE_MS;
  const end = minute + ((to - now + DAY_MINUTES) % DAY_MINUTES) * MINUTE_MS;
  const shown = getMinuteOfDay(end, quiet.timezone);
  // Forward: the clock passed `to` while it changed. Back: the hour before `to` comes twice.
  const off = ((shown - to + DAY_MINUTES + DAY_MINUTES / 2) % DAY_MINUTES) - DAY_MINUTES / 2;
  return end - off * MINUTE_MS;
}
