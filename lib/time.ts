/** Instants as text and lengths of time in milliseconds. A store compares text, so every instant has one spelling. */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** What was asked last: one request asks for the same instant again and again, and for others of the same day. */
let lastMs = NaN;
let lastText = '';
/**
 * Days that were asked for, by their remainder, and their dates, `2026-11-20T`: an instant and its expiry lie a month
 * apart.
 */
const DAYS = 8;
const days = Array.from({ length: DAYS }, () => NaN);
const dates = Array.from({ length: DAYS }, () => '');

/** Of a Date: only its first millisecond. */
const LAST_DAY = 100_000_000;

const PAIRS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
const THOUSANDTHS = Array.from({ length: SECOND_MS }, (_, n) => String(n).padStart(3, '0'));

/** RFC 3339 in UTC with milliseconds and `Z` (contract 00, names). @param ms since the epoch @throws RangeError */
export function isoOf(ms: number): string {
  if (ms !== lastMs) {
    lastText = isoText(Math.trunc(ms));
    lastMs = ms;
  }
  return lastText;
}

/** A seventh of the time that a Date takes, of which a report makes some seven. @param ms an integer */
function isoText(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  const slot = Math.abs(day % DAYS);
  if (day !== days[slot] || day === LAST_DAY) {
    dates[slot] = new Date(ms).toISOString().slice(0, -'00:00:00.000Z'.length);
    days[slot] = day;
  }
  const left = ms - day * DAY_MS;
  const hours = PAIRS[Math.floor(left / HOUR_MS)];
  const minutes = PAIRS[Math.floor(left / MINUTE_MS) % 60];
  const seconds = PAIRS[Math.floor(left / SECOND_MS) % 60];
  return `${dates[slot]}${hours}:${minutes}:${seconds}.${THOUSANDTHS[left % SECOND_MS]}Z`;
}

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
export function normalizedTime(text: string): string | null {
  const ms = Date.parse(text);
  const date = DATE.exec(text)?.[0];
  return Number.isNaN(ms) || date === undefined || !isDay(date) ? null : isoOf(ms);
}
