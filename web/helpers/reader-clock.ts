/** All instants are formatted here (contract 80, times); formatters are cached. */
import { BoundedMap } from '../../lib/bounded-map.js';

export interface ReaderClock {
  timezone: string;
  hours: 12 | 24;
  /** No one has signed in: the browser converts times itself (assets/times.js). */
  public: boolean;
}

export interface TimeFormats {
  clock: ReaderClock;
  /** `20 Nov 2026` */
  date: (at: number) => string;
  /** `20 Nov 2026, 09:12`, `20 Nov 2026, 9:12 am`; with the zone's short name: `CET`. */
  minute: (at: number) => ZonedText;
  second: (at: number) => ZonedText;
  /**
   * With the offset, which distinguishes the repeated hour in autumn: `20 Nov 2026, 09:12:30
   * GMT+1`.
   */
  full: (at: number) => string;
  /** `20 Nov, 09:00 CET` */
  hour: (at: number) => string;
}

export interface ZonedText {
  text: string;
  zone: string;
}

const formatCache = new BoundedMap<TimeFormats>({ most: 1_000 });

/** Replaces the special spaces in formatted times, which differ between Chromium and Node. */
const normalizeSpaces = (text: string): string => text.replace(/[\u202f\u00a0]/g, ' ');

function splitZone(text: string): ZonedText {
  const at = text.lastIndexOf(' ');
  return { text: text.slice(0, at), zone: text.slice(at + 1) };
}

/** @throws RangeError for an unknown time zone */
export function getTimeFormats(clock: ReaderClock): TimeFormats {
  const key = `${clock.timezone} ${clock.hours} ${clock.public}`;
  const known = formatCache.get(key);
  if (known !== undefined) return known;
  const { timezone: timeZone, hours } = clock;
  const day = { day: 'numeric', month: 'short' } as const;
  const time =
    hours === 12 ? ({ hour: 'numeric', hourCycle: 'h12' } as const) : ({ hour: '2-digit', hourCycle: 'h23' } as const);
  const format = (options: Intl.DateTimeFormatOptions): ((at: number) => string) => {
    const own = new Intl.DateTimeFormat('en-GB', { timeZone, ...options });
    return (at) => normalizeSpaces(own.format(at));
  };
  const minute = { ...day, year: 'numeric', ...time, minute: '2-digit' } as const;
  const [toMinute, toSecond] = [
    format({ ...minute, timeZoneName: 'short' }),
    format({ ...minute, second: '2-digit', timeZoneName: 'short' }),
  ];
  const formats: TimeFormats = {
    clock,
    date: format({ ...day, year: 'numeric' }),
    minute: (at) => splitZone(toMinute(at)),
    second: (at) => splitZone(toSecond(at)),
    full: format({ ...minute, second: '2-digit', timeZoneName: 'shortOffset' }),
    hour: format({ ...day, ...time, minute: '2-digit', timeZoneName: 'short' }),
  };
  formatCache.set(key, formats);
  return formats;
}

/**
 * Returns the reader's clock from the root field `reader`.
 * @param own the service's zone
 */
export function getReaderClock(root: Record<string, unknown>, own: string): ReaderClock {
  const reader = root['reader'] as Partial<ReaderClock> | undefined;
  return {
    timezone: reader?.timezone ?? own,
    hours: reader?.hours === 12 ? 12 : 24,
    public: reader?.public === true,
  };
}
