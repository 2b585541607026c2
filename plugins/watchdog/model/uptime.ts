/**
 * By hour and day, stored in the monitor, so that lists need not read events. One that was up
 * throughout has no cell. Times in ms.
 */
import { HOUR_MS, toIsoString } from '../../../lib/time.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { MonitorDoc } from './documents.js';

const DAY_MS = 24 * HOUR_MS;
export const DAY_SECONDS = DAY_MS / 1000;
export const DISPLAYED_HOURS = 24;
export const DISPLAYED_DAYS = 90;
export const UPTIME_RETENTION_DAYS = 400;

/**
 * Hours or days since 1970, then seconds per state; zero while stopped, in maintenance or unknown.
 */
type Cell = readonly [index: number, up: number, warning: number, down: number];

interface UptimeRecord {
  since: number;
  hours: Cell[];
  days: Cell[];
}

const CELL_UNITS = [
  { name: 'hours', ms: HOUR_MS, keep: DISPLAYED_HOURS },
  { name: 'days', ms: DAY_MS, keep: UPTIME_RETENTION_DAYS },
] as const;

type UniformCells = Readonly<Record<'up' | 'warning' | 'down', Cell>>;
const buildUniformCells = (seconds: number): UniformCells => ({
  up: [NaN, seconds, 0, 0],
  warning: [NaN, 0, seconds, 0],
  down: [NaN, 0, 0, seconds],
});
const UNIFORM_CELLS: Readonly<Record<'hours' | 'days', UniformCells>> = {
  hours: buildUniformCells(3600),
  days: buildUniformCells(86_400),
};
const EMPTY_CELL: Cell = [NaN, 0, 0, 0];

export interface UptimeCell {
  readonly state: 'up' | 'warning' | 'down' | 'none';
  readonly seconds: number;
}

export interface Uptime {
  /** Oldest first. */
  hours: UptimeCell[];
  days: UptimeCell[];
  /** Share of monitored time that was not down; null when not monitored. */
  day: number | null;
  month: number | null;
  quarter: number | null;
}

const parseRecord = (text: string | null | undefined, from: number): UptimeRecord =>
  text ? (JSON.parse(text) as UptimeRecord) : { since: from, hours: [], days: [] };

function extendRecord(record: UptimeRecord, state: MonitorState, from: number, to: number): UptimeRecord {
  const next: UptimeRecord = { since: record.since, hours: [...record.hours], days: [...record.days] };
  for (const { name, ms, keep } of CELL_UNITS) {
    const oldest = Math.floor(to / ms) - keep + 1;
    const cells = next[name].filter(([index]) => index >= oldest);
    forEachPeriod(from, to, oldest, ms, (index, seconds, whole) => {
      if (state === 'up' && whole) return;
      const known = (cells.at(-1)?.[0] ?? -Infinity) < index ? -1 : cells.findIndex(([one]) => one === index);
      if (known < 0) cells.push(extendCell([index, 0, 0, 0], state, seconds, ms / 1000));
      else cells[known] = extendCell(cells[known] as Cell, state, seconds, ms / 1000);
    });
    next[name] = cells;
  }
  return next;
}

function forEachPeriod(
  from: number,
  to: number,
  oldest: number,
  ms: number,
  take: (index: number, seconds: number, whole: boolean) => void,
): void {
  for (let index = Math.max(Math.floor(from / ms), oldest); index * ms < to; index++) {
    const length = Math.min(to, (index + 1) * ms) - Math.max(from, index * ms);
    // The clock moved backwards.
    if (length <= 0) continue;
    take(index, length / 1000, length === ms);
  }
}

/** @param most seconds; a clock that moved backwards repeats some */
function extendCell([index, up, warning, down]: Cell, state: MonitorState, seconds: number, most: number): Cell {
  const more = Math.max(0, Math.min(seconds, most - up - warning - down));
  return [
    index,
    state === 'up' ? up + more : up,
    state === 'warning' ? warning + more : warning,
    state === 'down' ? down + more : down,
  ];
}

type UptimeSource = Pick<MonitorDoc, 'uptime' | 'state' | 'last_state_change_utc'>;

export function recordUptime({ uptime, state, last_state_change_utc }: UptimeSource, now: number): string {
  const from = Date.parse(last_state_change_utc);
  return JSON.stringify(extendRecord(parseRecord(uptime, Math.min(from, now)), state, from, now));
}

export function getUptime(doc: UptimeSource, now: number): Uptime {
  const from = Date.parse(doc.last_state_change_utc);
  const record = parseRecord(doc.uptime, from);
  const [hourly, daily] = CELL_UNITS;
  const hours = listCells(record, hourly, doc.state, from, now);
  const days = listCells(record, { ...daily, keep: DISPLAYED_DAYS }, doc.state, from, now);
  return {
    hours: hours.map(toDisplayedCell),
    days: days.map(toDisplayedCell),
    day: getShare(hours),
    month: getShare(days.slice(-30)),
    quarter: getShare(days),
  };
}

export interface DayUptime {
  /** UTC, in ms. */
  at: number;
  up_seconds: number;
  warning_seconds: number;
  down_seconds: number;
  share: number | null;
}

/**
 * Lists oldest first, with the total share.
 * @param days 1 to 400
 */
export function getDailyUptime(
  doc: UptimeSource,
  now: number,
  days: number,
): { share: number | null; days: DayUptime[] } {
  const from = Date.parse(doc.last_state_change_utc);
  const cells = listCells(parseRecord(doc.uptime, from), { ...CELL_UNITS[1], keep: days }, doc.state, from, now);
  const oldest = Math.floor(now / DAY_MS) - days + 1;
  const shownDays = cells.map((cell, i) => {
    const [, upTotal, warningTotal, down] = cell.map(Math.round) as [number, number, number, number];
    // Rounding may exceed the day by a second.
    const warning = Math.min(warningTotal, DAY_MS / 1000 - down);
    const up = Math.min(upTotal, DAY_MS / 1000 - down - warning);
    const at = (oldest + i) * DAY_MS;
    return { at, up_seconds: up, warning_seconds: warning, down_seconds: down, share: getShare([cell]) };
  });
  return { share: getShare(cells), days: shownDays };
}

export interface UptimeDays {
  share: number | null;
  /** `2027-01-31`, UTC. */
  days: (Omit<DayUptime, 'at'> & { day: string })[];
}

/**
 * Formats for the API and the CSV.
 * @param days 1 to 400
 */
export function getUptimeDays(doc: UptimeSource, now: number, days: number): UptimeDays {
  const known = getDailyUptime(doc, now, days);
  return {
    share: known.share,
    days: known.days.map(({ at, ...day }) => Object.assign({ day: toIsoString(at).slice(0, 10) }, day)),
  };
}

function listCells(
  record: UptimeRecord,
  { name, ms, keep }: { name: 'hours' | 'days'; ms: number; keep: number },
  state: MonitorState,
  from: number,
  now: number,
): Cell[] {
  const newest = Math.floor(now / ms);
  const oldest = newest - keep + 1;
  const cells = Array.from({ length: keep }, (_, i): Cell => {
    const index = oldest + i;
    return index < newest && index * ms >= record.since ? UNIFORM_CELLS[name].up : EMPTY_CELL;
  });
  for (const cell of record[name]) if (cell[0] >= oldest && cell[0] <= newest) cells[cell[0] - oldest] = cell;
  forEachPeriod(from, now, oldest, ms, (index, seconds, whole) => {
    if (state === 'up' && whole) return;
    const at = index - oldest;
    const known = cells[at] as Cell;
    if (Number.isNaN(known[0]) && whole) cells[at] = getUniformCell(name, state);
    else cells[at] = extendCell(Number.isNaN(known[0]) ? EMPTY_CELL : known, state, seconds, ms / 1000);
  });
  return cells;
}

const getUniformCell = (name: 'hours' | 'days', state: MonitorState): Cell =>
  state === 'up' || state === 'warning' || state === 'down' ? UNIFORM_CELLS[name][state] : EMPTY_CELL;

const DISPLAYED_CELLS = new Map(
  [EMPTY_CELL, ...Object.values(UNIFORM_CELLS).flatMap((of) => Object.values(of))].map((cell) => [
    cell,
    formatCell(cell),
  ]),
);

const toDisplayedCell = (cell: Cell): UptimeCell => DISPLAYED_CELLS.get(cell) ?? formatCell(cell);

function formatCell([, up, warning, down]: Cell): UptimeCell {
  if (down > 0) return { state: 'down', seconds: down };
  if (warning > 0) return { state: 'warning', seconds: warning };
  return up > 0 ? { state: 'up', seconds: up } : { state: 'none', seconds: 0 };
}

function getShare(cells: readonly Cell[]): number | null {
  let [working, all] = [0, 0];
  for (const [, up, warning, down] of cells) {
    working += up + warning;
    all += up + warning + down;
  }
  return all === 0 ? null : working / all;
}

/** Rounded down: 100% means never down. */
export const formatPercent = (part: number | null): string =>
  part === null ? '–' : `${Math.floor(part * 10_000) / 100}%`;
