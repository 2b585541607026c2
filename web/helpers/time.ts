/**
 * Times: stored in UTC, shown in `app.timezone`, with the UTC value and the relative age at hand (contract 80).
 * Intl carries the zone's rules, daylight saving included; the title names the offset, which
 * distinguishes the hour that comes twice in autumn.
 */
import { escape, Html, numeric, plain, split, type Helper } from './html.js';

export interface TimeOptions {
  /** IANA name, `Europe/Zurich`. */
  timezone: string;
  /** Milliseconds since 1970. */
  now: () => number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds of an RFC 3339 text, a Date or a number; null when it is none. */
export function instant(value: unknown): number | null {
  if (value instanceof Date) return numeric(value.getTime());
  if (typeof value === 'number') return numeric(value);
  return typeof value === 'string' && /^\d{4}-/.test(value) ? numeric(Date.parse(value)) : null;
}

/** `just now`, `3 min ago`, `in 2 h`. */
export function age(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < 10 * SECOND) return 'just now';
  const text = distanceText(distance);
  return at <= now ? `${text} ago` : `in ${text}`;
}

function distanceText(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  if (ms < 60 * DAY) return `${Math.floor(ms / DAY)} d`;
  if (ms < 730 * DAY) return `${Math.floor(ms / (30.44 * DAY))} mo`;
  return `${Math.floor(ms / (365.25 * DAY))} y`;
}

/** `1 d 2 h`, `3 min 5 s`: the two largest units of a number of seconds. */
export function duration(seconds: unknown): string {
  const n = numeric(seconds);
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

function utc(at: number): string {
  return `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`;
}

/**
 * Helpers `time`, `hour-titles`, `day-titles`, `age-of`, `local-time`, `utc-time`, `duration`, bound to one zone and
 * clock.
 */
export function timeHelpers({ timezone, now }: TimeOptions): Record<string, Helper> {
  const day = { day: 'numeric', month: 'short', year: 'numeric', timeZone: timezone } as const;
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const minute = new Intl.DateTimeFormat('en-GB', { ...day, ...clock });
  const second = new Intl.DateTimeFormat('en-GB', { ...day, ...clock, second: '2-digit' });
  const full = new Intl.DateTimeFormat('en-GB', { ...day, ...clock, second: '2-digit', timeZoneName: 'shortOffset' });
  const date = new Intl.DateTimeFormat('en-GB', day);
  const utcDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
  const hour = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: timezone, ...clock });
  // Chromium and Node put different spaces into formatted times; one plain space keeps tests and copies simple.
  const show = (format: Intl.DateTimeFormat, at: number): string => format.format(at).replace(/[\u202f\u00a0]/g, ' ');

  const bodies: Record<string, (at: number, past: string) => string> = {
    age: (_at, past) => `<span class="age">${past}</span>`,
    date: (at) => show(date, at),
    stamp: (at) => show(second, at),
    both: (at, past) => `${show(minute, at)} <span class="when-age age">${past}</span>`,
  };

  function time(...args: unknown[]): Html {
    const { values, hash } = split(args);
    const at = instant(values[0]);
    if (at === null) return new Html(`<span class="none">${escape(plain(hash['none']) || '—')}</span>`);
    const past = age(at, now());
    const body = bodies[plain(hash['mode'])] ?? bodies['both'];
    const title = `${show(full, at)} · ${utc(at)} · ${past}`;
    const iso = new Date(at).toISOString();
    return new Html(`<time class="when" datetime="${iso}" title="${escape(title)}">${body?.(at, past) ?? ''}</time>`);
  }

  /** Titles of the last hours or days, made once for all rows of a page. */
  const titlesOf = (step: number, title: (at: number) => string): ((count: unknown) => readonly string[]) => {
    let made: { newest: number; titles: readonly string[] } = { newest: NaN, titles: [] };
    return (count) => {
      const length = Math.min(Math.max(numeric(count) ?? 0, 0), 1000);
      const newest = Math.floor(now() / step) * step;
      if (made.newest !== newest || made.titles.length !== length) {
        made = { newest, titles: Array.from({ length }, (_, i) => title(newest - (length - 1 - i) * step)) };
      }
      return made.titles;
    };
  };

  /**
   * `{{hour-titles 24}}`: `20 Nov, 09:00` for each of the last hours, oldest first, the running one last; for a chart's
   * columns.
   */
  const hourTitles = titlesOf(HOUR, (at) => show(hour, at));

  /** `{{day-titles 30}}`: the last days in UTC, today last. */
  const dayTitles = titlesOf(DAY, (at) => show(utcDay, at));

  const textOf = (value: unknown, render: (at: number) => string): string => {
    const at = instant(value);
    return at === null ? '—' : render(at);
  };
  return {
    time,
    'hour-titles': hourTitles,
    'day-titles': dayTitles,
    'age-of': (value) => textOf(value, (at) => age(at, now())),
    'local-time': (value) => textOf(value, (at) => show(second, at)),
    'utc-time': (value) => textOf(value, utc),
    duration,
  };
}
