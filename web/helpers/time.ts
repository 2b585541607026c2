/**
 * Times are stored in UTC and shown by the reader's clock, with UTC and relative age available
 * (contract 80).
 */
import { BoundedMap } from '../../lib/bounded-map.js';
import { escapeHtml, Html, memoize, toNumber, toText, splitArguments, type Helper } from './html.js';
import { getReaderClock, getTimeFormats, type TimeFormats, type ZonedText } from './reader-clock.js';

export interface TimeOptions {
  /** `app.timezone`, used without a reader's zone. IANA name, `Europe/Zurich`. */
  timezone: string;
  now: () => number;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export function parseInstant(value: unknown): number | null {
  if (value instanceof Date) return toNumber(value.getTime());
  if (typeof value === 'number') return toNumber(value);
  return typeof value === 'string' && /^\d{4}-/.test(value) ? toNumber(Date.parse(value)) : null;
}

export function formatAge(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < 10 * SECOND_MS) return 'just now';
  const text = formatDistance(distance);
  return at <= now ? `${text} ago` : `in ${text}`;
}

function formatDistance(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  if (ms < 60 * DAY_MS) return `${Math.floor(ms / DAY_MS)} d`;
  if (ms < 730 * DAY_MS) return `${Math.floor(ms / (30.44 * DAY_MS))} mo`;
  return `${Math.floor(ms / (365.25 * DAY_MS))} y`;
}

export function formatDuration(seconds: unknown): string {
  const n = toNumber(seconds);
  if (n === null) return '—';
  const whole = Math.floor(Math.abs(n));
  const parts: [number, string][] = [
    [Math.floor(whole / 86400), 'd'],
    [Math.floor((whole % 86400) / 3600), 'h'],
    [Math.floor((whole % 3600) / 60), 'min'],
    [whole % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return n === 0 ? '0 s' : `${Math.round(Math.abs(n) * 1000)} ms`;
  const text = parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
  return n < 0 ? `−${text}` : text;
}

function formatUtc(at: number): string {
  return `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`;
}

export function createTimeHelpers({ timezone, now }: TimeOptions): Record<string, Helper> {
  // Rejects an unknown zone of the service at startup.
  if (timezone !== 'UTC') getTimeFormats(getReaderClock({}, timezone));
  const formatsFor = (root: Record<string, unknown>): TimeFormats => getTimeFormats(getReaderClock(root, timezone));
  const utcDay = memoize(() => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }));

  const bodies: Record<string, (at: number, formats: TimeFormats, past: string) => string> = {
    age: (_at, _formats, past) => `<span class="age">${past}</span>`,
    date: (at, { date }) => date(at),
    stamp: (at, { second }) => renderZonedText(second(at)),
    minute: (at, { minute }) => renderZonedText(minute(at)),
    both: (at, { minute }, past) => `${renderZonedText(minute(at))} <span class="when-age age">${past}</span>`,
  };

  function time(...args: unknown[]): Html {
    const { values, hash, root } = splitArguments(args);
    const at = parseInstant(values[0]);
    if (at === null) return new Html(`<span class="none">${escapeHtml(toText(hash['none']) || '—')}</span>`);
    const past = formatAge(at, now());
    const formats = formatsFor(root);
    const mode = toText(hash['mode']) in bodies ? toText(hash['mode']) : 'both';
    // Avoids repeating a visible age; a shared page is only rendered again when its content
    // changes.
    const aged = !formats.clock.public && mode !== 'both' && mode !== 'age';
    const title = `${formats.full(at)} · ${formatUtc(at)}${aged ? ` · ${past}` : ''}`;
    const iso = new Date(at).toISOString();
    // For anonymous visitors the browser shows its own time.
    const shown = formats.clock.public ? ` data-time="${mode}"` : '';
    const body = bodies[mode]?.(at, formats, past) ?? '';
    return new Html(`<time class="when" datetime="${iso}" title="${escapeHtml(title)}"${shown}>${body}</time>`);
  }

  /** Creates the titles of the last hours or days once for all rows of a page. */
  const titlesOf = (
    step: number,
    titleFor: (root: Record<string, unknown>) => (at: number) => string,
  ): ((...args: unknown[]) => readonly string[]) => {
    const made = new BoundedMap<{ newest: number; titles: readonly string[] }>({ most: 100 });
    return (...args) => {
      const { values, root } = splitArguments(args);
      const length = Math.min(Math.max(toNumber(values[0]) ?? 0, 0), 1000);
      const newest = Math.floor(now() / step) * step;
      const clock = getReaderClock(root, timezone);
      const key = `${clock.timezone} ${clock.hours} ${length}`;
      const known = made.get(key);
      if (known?.newest === newest) return known.titles;
      const title = titleFor(root);
      const titles = Array.from({ length }, (_, i) => title(newest - (length - 1 - i) * step));
      made.set(key, { newest, titles });
      return titles;
    };
  };

  const hourTitles = titlesOf(HOUR_MS, (root) => formatsFor(root).hour);

  const dayTitles = titlesOf(DAY_MS, () => (at) => utcDay().format(at));

  const textOf = (args: unknown[], render: (at: number, formats: TimeFormats) => string): string => {
    const { values, root } = splitArguments(args);
    const at = parseInstant(values[0]);
    return at === null ? '—' : render(at, formatsFor(root));
  };
  return {
    time,
    'hour-titles': hourTitles,
    'day-titles': dayTitles,
    'age-of': (...args) => textOf(args, (at) => formatAge(at, now())),
    'local-time': (...args) =>
      textOf(args, (at, { second }) => {
        const { text, zone } = second(at);
        return `${text} ${zone}`;
      }),
    'utc-time': (...args) => textOf(args, formatUtc),
    duration: (seconds) => formatDuration(seconds),
  };
}

const renderZonedText = ({ text, zone }: ZonedText): string =>
  `${escapeHtml(text)} <span class="when-zone">${escapeHtml(zone)}</span>`;
