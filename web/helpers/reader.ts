/**
 * By whose clock a page is read: the zone and the hours that a person chose, else the service's own (contract 80,
 * times). The one place where an instant becomes words; the formats of each choice are made once.
 */
import { BoundedMap } from '../../lib/bounded-map.js';

export interface ReaderClock {
  /** IANA name, `Europe/Zurich`. */
  timezone: string;
  hours: 12 | 24;
  /** Nobody has signed in: the browser shows times by its own clock (assets/times.js). */
  public: boolean;
}

/** Formats of one zone and one kind of hours, in English. */
export interface TimeFormats {
  clock: ReaderClock;
  /** `20 Nov 2026` */
  date: (at: number) => string;
  /** `20 Nov 2026, 09:12`, `20 Nov 2026, 9:12 am`; with the zone's short name beside it: `CET`. */
  minute: (at: number) => ZonedText;
  /** With seconds. */
  second: (at: number) => ZonedText;
  /** With the offset, which tells the two hours apart that come in autumn: `20 Nov 2026, 09:12:30 GMT+1`. */
  full: (at: number) => string;
  /** `20 Nov, 09:00 CET` */
  hour: (at: number) => string;
}

export interface ZonedText {
  text: string;
  zone: string;
}

/** Zones are a few hundred, and a person chooses one. */
const made = new BoundedMap<TimeFormats>({ most: 1_000 });

/** Chromium and Node put different spaces into formatted times; one plain space keeps tests and copies simple. */
const spaced = (text: string): string => text.replace(/[\u202f\u00a0]/g, ' ');

/** What follows the last blank is the zone: no short name of one has a blank in it. */
function parted(text: string): ZonedText {
  const at = text.lastIndexOf(' ');
  return { text: text.slice(0, at), zone: text.slice(at + 1) };
}

/** @throws RangeError when the time zone is unknown */
export function formatsOf(clock: ReaderClock): TimeFormats {
  const key = `${clock.timezone} ${clock.hours} ${clock.public}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const { timezone: timeZone, hours } = clock;
  const day = { day: 'numeric', month: 'short' } as const;
  const time =
    hours === 12 ? ({ hour: 'numeric', hourCycle: 'h12' } as const) : ({ hour: '2-digit', hourCycle: 'h23' } as const);
  const format = (options: Intl.DateTimeFormatOptions): ((at: number) => string) => {
    const own = new Intl.DateTimeFormat('en-GB', { timeZone, ...options });
    return (at) => spaced(own.format(at));
  };
  const minute = { ...day, year: 'numeric', ...time, minute: '2-digit' } as const;
  const [toMinute, toSecond] = [
    format({ ...minute, timeZoneName: 'short' }),
    format({ ...minute, second: '2-digit', timeZoneName: 'short' }),
  ];
  const formats: TimeFormats = {
    clock,
    date: format({ ...day, year: 'numeric' }),
    minute: (at) => parted(toMinute(at)),
    second: (at) => parted(toSecond(at)),
    full: format({ ...minute, second: '2-digit', timeZoneName: 'shortOffset' }),
    hour: format({ ...day, ...time, minute: '2-digit', timeZoneName: 'short' }),
  };
  made.set(key, formats);
  return formats;
}

/** The clock of whoever looks at this page: the field `reader` at its root. @param own the service's zone */
export function clockOf(root: Record<string, unknown>, own: string): ReaderClock {
  const reader = root['reader'] as Partial<ReaderClock> | undefined;
  return {
    timezone: reader?.timezone ?? own,
    hours: reader?.hours === 12 ? 12 : 24,
    public: reader?.public === true,
  };
}
