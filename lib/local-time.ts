/**
 * Local times of forms (`<input type="datetime-local">`) and UTC. Two local times a year are special: one hour does not
 * exist, one comes twice. Both are decided as `Temporal` does by default: a time that does not exist is as much later
 * as the clock was put forward, and of one that comes twice the first is meant, unless the second is asked for.
 */
import { BoundedMap } from './bounded-map.js';
import { DAY_MS, isoOf } from './time.js';

/** From 1900 on: before it, zones had offsets of seconds and fractions. */
const LOCAL = /^(?:19|[2-9]\d)\d\d-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/;

const formats = new BoundedMap<Intl.DateTimeFormat>({ most: 600 });

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
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
  formats.set(zone, made);
  return made;
}

/** The zone's clock at an instant, as if it showed UTC; whole seconds. */
function clockAt(ms: number, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** How far the zone's clock is ahead of UTC, in ms. */
export function getUtcOffset(ms: number, zone: string): number {
  const second = Math.floor(ms / 1000) * 1000;
  return clockAt(second, zone) - second;
}

/**
 * The instant of a local time, RFC 3339 in UTC; null when the text names no real date and time from 1900 on.
 * @param text `2026-10-25T02:30`, also with seconds
 * @param zone IANA, `Europe/Berlin`
 * @param which of the two instants of an hour that comes twice
 * @throws RangeError for an unknown zone
 */
export function utcOfLocal(text: string, zone: string, which: 'first' | 'second' = 'first'): string | null {
  const clock = LOCAL.test(text) ? Date.parse(`${text}Z`) : NaN;
  // JavaScript takes the 31st of February for a day in March.
  if (Number.isNaN(clock) || isoOf(clock).slice(0, 16) !== text.slice(0, 16)) return null;
  // The offsets on both sides of a change that may be near: no zone is a day from UTC, or changes twice in two days.
  const [before, after] = [getUtcOffset(clock - DAY_MS, zone), getUtcOffset(clock + DAY_MS, zone)];
  const instants = [clock - before, clock - after].filter((ms) => ms + getUtcOffset(ms, zone) === clock);
  if (instants.length === 0) return isoOf(clock - before);
  return isoOf(which === 'first' ? Math.min(...instants) : Math.max(...instants));
}

/**
 * The local time of an instant, for the value of a form's field: `2026-10-25T02:30`.
 * @param at RFC 3339, or ms since the epoch
 * @throws RangeError for an unknown zone, or a text that is no time
 */
export function localOf(at: string | number, zone: string): string {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  return isoOf(clockAt(ms, zone)).slice(0, 16);
}

/** Whether this is the name of a time zone: `Europe/Zurich`, `UTC`. */
export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
