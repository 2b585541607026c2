/** Times as text with one spelling per instant, because stores compare text. */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const RFC_3339_PATTERN = /^\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * Formats RFC 3339 UTC with milliseconds and `Z` (contract 00, names).
 * @throws RangeError
 */
export const toIsoString = (ms: number): string => new Date(ms).toISOString();

/** Formats the UTC day: `2026-11-20`. @param ms since the epoch */
export const toIsoDay = (ms: number): string => toIsoString(ms).slice(0, 10);

/** Leading day; JavaScript also parses `30 Feb 2026`. */
const DATE_PATTERN = /^\d{4}-\d\d-\d\d(?=$|[Tt ])/;
const MIN_MONTH_DAYS = 28;

/** Returns whether `text` is a valid RFC 3339 timestamp with time zone. */
export const isTimestamp = (text: string): boolean =>
  RFC_3339_PATTERN.test(text) && !Number.isNaN(Date.parse(text)) && isDay(text.slice(0, 'yyyy-mm-dd'.length));

/** JavaScript reads February 30 as March 2. @param date `2026-02-28` */
const isDay = (date: string): boolean =>
  Number(date.slice(-2)) <= MIN_MONTH_DAYS || toIsoDay(Date.parse(`${date}T00:00:00Z`)) === date;

/**
 * Normalizes a time that starts with its day (`2026-11-20`), with any offset or none; null for
 * other text and invalid days.
 */
export function normalizeTime(text: string): string | null {
  const ms = Date.parse(text);
  const date = DATE_PATTERN.exec(text)?.[0];
  return Number.isNaN(ms) || date === undefined || !isDay(date) ? null : toIsoString(ms);
}

const ELAPSED_UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/**
 * `5 min 44 s`.
 * @param ms at least 0
 */
export function formatElapsed(ms: number): string {
  let left = Math.max(0, Math.round(ms / 1000));
  const parts: string[] = [];
  for (const [name, seconds] of ELAPSED_UNITS) {
    const n = Math.floor(left / seconds);
    left -= n * seconds;
    if (n > 0) parts.push(`${n} ${name}`);
    if (parts.length > 0 && (n === 0 || parts.length === 2)) break;
  }
  return parts.join(' ') || '0 s';
}
