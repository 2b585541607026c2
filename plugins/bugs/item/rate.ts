/** The rolling hour, kept as a counter per minute inside the item (contract 21, rolling hour). Pure. */
const MINUTE = 60_000;
const HOUR = 3_600_000;
export const MINUTES_KEPT = 60;
export const HOURS_KEPT = 48;
/** Stale counters that gather before they are pruned: most writes then prune none. */
const SLACK = 12;

type Counters = Readonly<Record<string, number>>;

const minuteOf = (ms: number): number => Math.floor(ms / MINUTE);
const hourOf = (ms: number): number => Math.floor(ms / HOUR);

/**
 * The counter of a minute. The key begins with a letter: some engines take a path segment of digits for an array index.
 */
export const toMinuteKey = (ms: number): string => `m${minuteOf(ms)}`;
export const toHourKey = (ms: number): string => `h${hourOf(ms)}`;
const numberOf = (key: string): number => Number(key.slice(1));

/** Occurrences in the 60 minutes that end with the minute of `now`. */
export function countLastHour(minutes: Counters | undefined, now: number): number {
  const newest = minuteOf(now);
  let sum = 0;
  for (const key in minutes) {
    const minute = numberOf(key);
    if (minute > newest - MINUTES_KEPT && minute <= newest) sum += minutes[key] ?? 0;
  }
  return sum;
}

/** The rolling hour at the newest counted minute, and its count when that minute began. */
export interface Rate {
  /** Minutes since 1970. */
  minute: number;
  count: number;
  before: number;
}

/**
 * The rate at the newest counted minute, not at the caller's clock. So the counts of one item have the order of its
 * writes, even from several processes, and the count never falls between two writes of one minute.
 */
export function getNewestRate(minutes: Counters): Rate {
  const all = Object.entries(minutes).map(([key, n]): [number, number] => [numberOf(key), n]);
  const minute = Math.max(0, ...all.map(([at]) => at));
  let count = 0;
  let last = 0;
  for (const [at, n] of all) {
    if (at > minute - MINUTES_KEPT) count += n;
    if (at === minute) last = n;
  }
  return { minute, count, before: count - last };
}

export const toMinuteStart = (minute: number): number => minute * MINUTE;

/** Occurrences per hour, oldest first, the running hour last; for the trend of a group. */
export function listHourlyCounts(hours: Counters | undefined, now: number, length = 24): number[] {
  const newest = hourOf(now);
  return Array.from({ length }, (_, i) => hours?.[`h${newest - length + 1 + i}`] ?? 0);
}

/** Paths of counters that no window reads any more; empty while they are few. */
export function listStalePaths(minutes: Counters, hours: Counters, now: number): string[] {
  const stale: string[] = [];
  const minute = minuteOf(now) - MINUTES_KEPT;
  for (const key in minutes) if (numberOf(key) <= minute) stale.push(`minutes.${key}`);
  const hour = hourOf(now) - HOURS_KEPT;
  for (const key in hours) if (numberOf(key) <= hour) stale.push(`hours.${key}`);
  return stale.length >= SLACK ? stale : [];
}

const DAY = 24;
export const DAYS_KEPT = 31;

/**
 * Sums per day (UTC) of the hours that go. Each value is the whole day's, so two writers that roll up the same snapshot
 * count it once.
 * @param stale of `listStalePaths`
 */
export function rollUpDays(
  hours: Counters,
  days: Counters | undefined,
  stale: readonly string[],
): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const path of stale) {
    const key = path.startsWith('hours.') ? path.slice('hours.'.length) : '';
    if (key === '') continue;
    const day = `d${Math.floor(numberOf(key) / DAY)}`;
    sums[`days.${day}`] = (sums[`days.${day}`] ?? days?.[day] ?? 0) + (hours[key] ?? 0);
  }
  return sums;
}

/** Paths of days that no page shows any more. */
export const listStaleDays = (days: Counters | undefined, now: number): string[] =>
  Object.keys(days ?? {})
    .filter((day) => numberOf(day) <= Math.floor(hourOf(now) / DAY) - DAYS_KEPT)
    .map((day) => `days.${day}`);

/** Occurrences per day (UTC), oldest first, today last: rolled-up days, and the hours that are still stored. */
export function listDailyCounts(
  hours: Counters | undefined,
  days: Counters | undefined,
  now: number,
  length = 30,
): number[] {
  const today = Math.floor(hourOf(now) / DAY);
  const sums = Array.from({ length }, (_, i) => days?.[`d${today - length + 1 + i}`] ?? 0);
  for (const [key, n] of Object.entries(hours ?? {})) {
    const at = Math.floor(numberOf(key) / DAY) - today + length - 1;
    if (at >= 0 && at < length) sums[at] = (sums[at] ?? 0) + n;
  }
  return sums;
}
