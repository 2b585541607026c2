/** The rolling hour, kept as a counter per minute inside the item (contract 21, rolling hour). Pure. */
const MINUTE = 60_000;
const HOUR = 3_600_000;
export const MINUTES_KEPT = 60;
export const HOURS_KEPT = 48;
/** Prune only when this many stale counters have gathered: most writes then carry none. */
const SLACK = 12;

type Counters = Readonly<Record<string, number>>;

const minuteOf = (ms: number): number => Math.floor(ms / MINUTE);
const hourOf = (ms: number): number => Math.floor(ms / HOUR);

/** A letter comes first: some engines take a path segment of digits alone for a place in an array. */
export const minuteKey = (ms: number): string => `m${minuteOf(ms)}`;
export const hourKey = (ms: number): string => `h${hourOf(ms)}`;
const numberOf = (key: string): number => Number(key.slice(1));

/** Occurrences in the 60 minutes that end with the minute of `now`. */
export function hourCount(minutes: Counters | undefined, now: number): number {
  const newest = minuteOf(now);
  let sum = 0;
  for (const [key, n] of Object.entries(minutes ?? {})) {
    const minute = numberOf(key);
    if (minute > newest - MINUTES_KEPT && minute <= newest) sum += n;
  }
  return sum;
}

/** Occurrences per hour, oldest first, the running hour last; for the trend of a group. */
export function hourly(hours: Counters | undefined, now: number, length = 24): number[] {
  const newest = hourOf(now);
  return Array.from({ length }, (_, i) => hours?.[`h${newest - length + 1 + i}`] ?? 0);
}

/** Paths of counters that no window reads any more; empty while there are few. */
export function stalePaths(minutes: Counters, hours: Counters, now: number): string[] {
  const stale = [
    ...Object.keys(minutes)
      .filter((m) => numberOf(m) <= minuteOf(now) - MINUTES_KEPT)
      .map((m) => `minutes.${m}`),
    ...Object.keys(hours)
      .filter((h) => numberOf(h) <= hourOf(now) - HOURS_KEPT)
      .map((h) => `hours.${h}`),
  ];
  return stale.length >= SLACK ? stale : [];
}
