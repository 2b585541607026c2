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

/** Of an hour or a day without a cell: its index is where it is. */
const WHOLE: Readonly<Record<'hours' | 'days', Cell>> = { hours: [NaN, 3600, 0, 0], days: [NaN, 86_400, 0, 0] };
const UNWATCHED: Cell = [NaN, 0, 0, 0];

/** What one hour or day looks like: its worst state, and for how many seconds. */
export interface UptimeCell {
  state: 'up' | 'warning' | 'down' | 'none';
  seconds: number;
}

export interface Uptime {
  /** Oldest first, the running one last. */
  hours: UptimeCell[];
  /** Made when they are read. */
  readonly days: UptimeCell[];
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
      // Cells are in the order of time: only the last may be the one that goes on.
      const known = (cells.at(-1)?.[0] ?? -Infinity) < index ? -1 : cells.findIndex(([one]) => one === index);
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
    get days() {
      return days.map(shown);
    },
    day: share(hours),
    month: share(days.slice(-30)),
    quarter: share(days),
  };
}

function cellsOf(record: UptimeRecord, name: 'hours' | 'days', ms: number, keep: number, now: number): Cell[] {
  const newest = Math.floor(now / ms);
  const oldest = newest - keep + 1;
  const cells = Array.from({ length: keep }, (_, i): Cell => {
    const index = oldest + i;
    return index < newest && index * ms >= record.since ? WHOLE[name] : UNWATCHED;
  });
  for (const cell of record[name]) if (cell[0] >= oldest && cell[0] <= newest) cells[cell[0] - oldest] = cell;
  return cells;
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
