/** Instants as text and lengths of time in milliseconds. A store compares text, so every instant has one spelling. */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** What was asked last: one request asks for the same instant again and again. */
let lastMs = NaN;
let lastText = '';

/** RFC 3339 in UTC with milliseconds and `Z` (contract 00, names). @param ms since the epoch @throws RangeError */
export function isoOf(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}

/** `2026-11-20`, the day in UTC. @param ms since the epoch */
export const dayOf = (ms: number): string => isoOf(ms).slice(0, 10);

/** Whether `text` is an RFC 3339 timestamp with a time zone that names a real day and time. */
export const isTimestamp = (text: string): boolean => RFC_3339.test(text) && !Number.isNaN(Date.parse(text));

/**
 * The one spelling of any date or time that JavaScript reads, with any offset; null for any other text.
 * It reads more than RFC 3339 (a bare day, for one), as a filter of a list does.
 */
export function normalizedTime(text: string): string | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : isoOf(ms);
}
