/**
 * How long a monitor was up, in warning and down, by hour and by day: kept in the monitor itself and written with each change
 * of state, so that a list shows 90 days of 50 monitors without reading a heartbeat or an event. Pure; times in ms.
 *
 * An hour or a day that was up from its beginning to its end has no cell: most monitors carry a few cells, and one that changes
 * its state every minute carries 139 at most.
 */
import { HOUR_MS } from '../../../lib/time.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { MonitorDoc } from '../model.js';

const DAY_MS = 24 * HOUR_MS;
export const HOURS = 24;
export const DAYS = 90;

/** Hours or days since 1970, then the seconds in each state; none where it was stopped, in maintenance or unknown. */
type Cell = [index: number, up: number, warning: number, down: number];

interface UptimeRecord {
  /** When it begins, in ms. */
  since: number;
  hours: Cell[];
  days: Cell[];
}

const UNITS = [
  { name: 'hours', ms: HOUR_MS, keep: HOURS },
  { name: 'days', ms: DAY_MS, keep: DAYS },
] as const;

/** What one hour or day looks like: its worst state, and for how many seconds. */
export interface UptimeCell {
  state: 'up' | 'warning' | 'down' | 'none';
  seconds: number;
}

export interface Uptime {
  /** Oldest first, the running one last. */
  hours: UptimeCell[];
  days: UptimeCell[];
  /** Shares of the watched time that was not down; null: it was not watched. */
  day: number | null;
  month: number | null;
  quarter: number | null;
}

const opened = (text: string | null | undefined, from: number): UptimeRecord =>
  text ? (JSON.parse(text) as UptimeRecord) : { since: from, hours: [], days: [] };

/** The record with one more stretch of time in one state. */
function extended(record: UptimeRecord, state: MonitorState, from: number, to: number): UptimeRecord {
  const next: UptimeRecord = { since: record.since, hours: [...record.hours], days: [...record.days] };
  for (const { name, ms, keep } of UNITS) {
    const oldest = Math.floor(to / ms) - keep + 1;
    const cells = next[name].filter(([index]) => index >= oldest);
    for (let index = Math.max(Math.floor(from / ms), oldest); index * ms < to; index++) {
      const seconds = (Math.min(to, (index + 1) * ms) - Math.max(from, index * ms)) / 1000;
      if (state === 'up' && seconds * 1000 === ms) continue;
      const known = cells.findIndex(([one]) => one === index);
      const cell: Cell = known < 0 ? [index, 0, 0, 0] : [...(cells[known] as Cell)];
      if (state === 'up') cell[1] += seconds;
      if (state === 'warning') cell[2] += seconds;
      if (state === 'down') cell[3] += seconds;
      if (known < 0) cells.push(cell);
      else cells[known] = cell;
    }
    next[name] = cells;
  }
  return next;
}

type Watched = Pick<MonitorDoc, 'uptime' | 'state' | 'last_state_change_utc'>;

function until({ uptime, state, last_state_change_utc }: Watched, now: number): UptimeRecord {
  const from = Date.parse(last_state_change_utc);
  return extended(opened(uptime, from), state, from, now);
}

/** The monitor's record when its state ends now: JSON text. */
export const recorded = (doc: Watched, now: number): string => JSON.stringify(until(doc, now));

export function uptimeOf(doc: Watched, now: number): Uptime {
  const record = until(doc, now);
  const [hours, days] = UNITS.map(({ name, ms, keep }) => cellsOf(record, name, ms, keep, now)) as [Cell[], Cell[]];
  return {
    hours: hours.map(shown),
    days: days.map(shown),
    day: share(hours),
    month: share(days.slice(-30)),
    quarter: share(days),
  };
}

function cellsOf(record: UptimeRecord, name: 'hours' | 'days', ms: number, keep: number, now: number): Cell[] {
  const known = new Map(record[name].map((cell) => [cell[0], cell]));
  const newest = Math.floor(now / ms);
  return Array.from({ length: keep }, (_, i): Cell => {
    const index = newest - keep + 1 + i;
    const whole = index < newest && index * ms >= record.since ? ms / 1000 : 0;
    return known.get(index) ?? [index, whole, 0, 0];
  });
}

function shown([, up, warning, down]: Cell): UptimeCell {
  if (down > 0) return { state: 'down', seconds: down };
  if (warning > 0) return { state: 'warning', seconds: warning };
  return up > 0 ? { state: 'up', seconds: up } : { state: 'none', seconds: 0 };
}

function share(cells: readonly Cell[]): number | null {
  let [working, all] = [0, 0];
  for (const [, up, warning, down] of cells) {
    working += up + warning;
    all += up + warning + down;
  }
  return all === 0 ? null : working / all;
}
