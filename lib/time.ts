/** Instants as text and lengths of time in milliseconds. A store compares text, so every instant has one spelling. */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** RFC 3339 in UTC with milliseconds and `Z` (contract 00, names). @param ms since the epoch @throws RangeError */
export const isoOf = (ms: number): string => new Date(ms).toISOString();

/** `2026-11-20`, the day in UTC. @param ms since the epoch */
export const dayOf = (ms: number): string => isoOf(ms).slice(0, 10);

/** The day that a text begins with. JavaScript reads `30 Feb 2026` too, and its 30 February is 2 March. */
const DATE = /^\d{4}-\d\d-\d\d(?=$|[Tt ])/;
/** Days that every month has. */
const SHORTEST_MONTH = 28;

/** Whether `text` is an RFC 3339 timestamp with a time zone that names a real day and time. */
export const isTimestamp = (text: string): boolean =>
  RFC_3339.test(text) && !Number.isNaN(Date.parse(text)) && isDay(text.slice(0, 'yyyy-mm-dd'.length));

/** JavaScript reads 30 February as 2 March. @param date `2026-02-28` */
const isDay = (date: string): boolean =>
  Number(date.slice(-2)) <= SHORTEST_MONTH || dayOf(Date.parse(`${date}T00:00:00Z`)) === date;

/**
 * The one spelling of a time that begins with its day (`2026-11-20`), with any offset; null for any other text, and for
 * a day that no month has. It reads more than RFC 3339 (a bare day, for one), as a filter of a list does.
 */
export function normalizeTime(text: string): string | null {
  const ms = Date.parse(text);
  const date = DATE.exec(text)?.[0];
  return Number.isNaN(ms) || date === undefined || !isDay(date) ? null : isoOf(ms);
}
