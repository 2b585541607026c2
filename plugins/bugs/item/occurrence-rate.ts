/**
 * Minutes count by the time of receipt (contract 21, rolling hour); hours and days, which charts
 * show, by the time of occurrence.
 */
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
export const RETAINED_MINUTES = 60;
export const RETAINED_HOURS = 48;
const HOURS_PER_DAY = 24;
export const RETAINED_DAYS = 31;
/** Accumulate before pruning, so that most writes prune none. */
const PRUNE_SLACK = 12;

type Counters = Readonly<Record<string, number>>;

const toMinute = (ms: number): number => Math.floor(ms / MINUTE_MS);
const toHour = (ms: number): number => Math.floor(ms / HOUR_MS);

/** A letter first, because some engines treat a numeric path segment as an array index. */
export const toMinuteKey = (ms: number): string => `m${toMinute(ms)}`;
export const toHourKey = (ms: number): string => `h${toHour(ms)}`;
/**
 * The hour in which it occurred. An occurrence older than the charts counts in the day before them,
 * so that a client's clock cannot add any number of counters.
 */
export const toOccurrenceHourKey = (occurred: number, now: number): string =>
  toHourKey(Math.max(occurred, now - (RETAINED_DAYS - 1) * HOURS_PER_DAY * HOUR_MS));
const parseCounterKey = (key: string): number => Number(key.slice(1));

export function countLastHour(minutes: Counters | undefined, now: number): number {
  const newest = toMinute(now);
  let sum = 0;
  for (const key in minutes) {
    const minute = parseCounterKey(key);
    if (minute > newest - RETAINED_MINUTES && minute <= newest) sum += minutes[key] ?? 0;
  }
  return sum;
}

export interface OccurrenceRate {
  /** Minutes since 1970. */
  minute: number;
  count: number;
  before: number;
}

/**
 * Returns the newest counted minute's rate instead of the caller's clock, so that counts follow the
 * order of writes, even across processes.
 */
export function getNewestRate(minutes: Counters): OccurrenceRate {
  const all = Object.entries(minutes).map(([key, n]): [number, number] => [parseCounterKey(key), n]);
  const minute = Math.max(0, ...all.map(([at]) => at));
  let count = 0;
  let last = 0;
  for (const [at, n] of all) {
    if (at > minute - RETAINED_MINUTES) count += n;
    if (at === minute) last = n;
  }
  return { minute, count, before: count - last };
}

export const toMinuteStart = (minute: number): number => minute * MINUTE_MS;

export function listHourlyCounts(hours: Counters | undefined, now: number, length = 24): number[] {
  const newest = toHour(now);
  return Array.from({ length }, (_, i) => hours?.[`h${newest - length + 1 + i}`] ?? 0);
}

/** Returns counters outside every window; empty while they are few. */
export function listStalePaths(minutes: Counters, hours: Counters, now: number): string[] {
  const stale: string[] = [];
  const minute = toMinute(now) - RETAINED_MINUTES;
  for (const key in minutes) if (parseCounterKey(key) <= minute) stale.push(`minutes.${key}`);
  const hour = toHour(now) - RETAINED_HOURS;
  for (const key in hours) if (parseCounterKey(key) <= hour) stale.push(`hours.${key}`);
  return stale.length >= PRUNE_SLACK ? stale : [];
}

/**
 * Sums per day (UTC). Each value is the whole day's, so two writers with the same snapshot count it
 * once.
 * @param stale from `listStalePaths`
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
    const day = `d${Math.floor(parseCounterKey(key) / HOURS_PER_DAY)}`;
    sums[`days.${day}`] = (sums[`days.${day}`] ?? days?.[day] ?? 0) + (hours[key] ?? 0);
  }
  return sums;
}

export const listStaleDays = (days: Counters | undefined, now: number): string[] =>
  Object.keys(days ?? {})
    .filter((day) => parseCounterKey(day) <= Math.floor(toHour(now) / HOURS_PER_DAY) - RETAINED_DAYS)
    .map((day) => `days.${day}`);

export function listDailyCounts(
  hours: Counters | undefined,
  days: Counters | undefined,
  now: number,
  length = 30,
): number[] {
  const today = Math.floor(toHour(now) / HOURS_PER_DAY);
  const sums = Array.from({ length }, (_, i) => days?.[`d${today - length + 1 + i}`] ?? 0);
  for (const [key, n] of Object.entries(hours ?? {})) {
    const at = Math.floor(parseCounterKey(key) / HOURS_PER_DAY) - today + length - 1;
    if (at >= 0 && at < length) sums[at] = (sums[at] ?? 0) + n;
  }
  return sums;
}
