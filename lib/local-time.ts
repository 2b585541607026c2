/**
 * Converts local times of forms to UTC. As in `Temporal`, a nonexistent time moves forward by the
 * gap.
 */
import { BoundedMap } from './bounded-map.js';
import { DAY_MS, toIsoString } from './time.js';

/** Earlier zones had offsets of seconds. */
const LOCAL_TIME_PATTERN = /^(?:19|[2-9]\d)\d\d-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/;

const formatCache = new BoundedMap<Intl.DateTimeFormat>({ most: 600 });

function getFormat(zone: string): Intl.DateTimeFormat {
  const known = formatCache.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formatCache.set(zone, made);
  return made;
}

/** As if it were UTC, in whole seconds. */
function getLocalClock(ms: number, zone: string): number {
  const parts = Object.fromEntries(
    getFormat(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Returns the zone's offset from UTC in ms. */
export function getUtcOffset(ms: number, zone: string): number {
  const second = Math.floor(ms / 1000) * 1000;
  return getLocalClock(second, zone) - second;
}

/**
 * Returns the instant of a local time, RFC 3339 in UTC; null if invalid or before 1900.
 * @param text `2026-10-25T02:30`, optionally with seconds
 * @param which occurrence of an ambiguous time
 * @throws RangeError for an unknown zone
 */
export function utcOfLocal(text: string, zone: string, which: 'first' | 'second' = 'first'): string | null {
  const clock = LOCAL_TIME_PATTERN.test(text) ? Date.parse(`${text}Z`) : NaN;
  // JavaScript reads February 31 as a day in March.
  if (Number.isNaN(clock) || toIsoString(clock).slice(0, 16) !== text.slice(0, 16)) return null;
  // Offsets are below a day, and changes over two days apart.
  const [before, after] = [getUtcOffset(clock - DAY_MS, zone), getUtcOffset(clock + DAY_MS, zone)];
  const instants = [clock - before, clock - after].filter((ms) => ms + getUtcOffset(ms, zone) === clock);
  if (instants.length === 0) return toIsoString(clock - before);
  return toIsoString(which === 'first' ? Math.min(...instants) : Math.max(...instants));
}

/**
 * Formats `2026-10-25T02:30`.
 * @param at RFC 3339, or ms since the epoch
 * @throws RangeError for an unknown zone or invalid time
 */
export function toLocalTime(at: string | number, zone: string): string {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  return toIsoString(getLocalClock(ms, zone)).slice(0, 16);
}

/** Returns whether this is an IANA zone: `Europe/Zurich`, `UTC`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
