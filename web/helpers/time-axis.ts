/**
 * Round times of a zone for a chart's axis; D3's time scale supports only the process's zone and
 * UTC.
 */
import { toLocalTime, utcOfLocal } from '../../lib/local-time.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const STEPS_MS = [
  ...[1, 5, 15, 30].map((n) => n * MINUTE_MS),
  ...[1, 2, 3, 4, 6, 12].map((n) => n * HOUR_MS),
  ...[1, 2, 3, 7].map((n) => n * DAY_MS),
];
const MAX_TICKS = 7;
const MONTH_NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export interface TimeTick {
  at: number;
  label: string;
}

/**
 * Returns at most seven ticks, evenly spaced on the zone's clock; empty for an invalid span.
 * @param zone IANA name
 * @param hours of the reader's clock
 */
export function listTimeTicks(from: number, to: number, zone: string, hours: 12 | 24 = 24): TimeTick[] {
  if (!(to > from)) return [];
  const step =
    STEPS_MS.find((one) => (to - from) / one <= MAX_TICKS) ?? Math.ceil((to - from) / MAX_TICKS / DAY_MS) * DAY_MS;
  const ticks: TimeTick[] = [];
  const first = Math.floor(Date.parse(`${toLocalTime(from, zone)}Z`) / step) * step;
  for (let local = first; ticks.length <= MAX_TICKS; local += step) {
    const text = new Date(local).toISOString().slice(0, 16);
    const instant = utcOfLocal(text, zone);
    if (instant === null || Date.parse(instant) > to) break;
    if (Date.parse(instant) >= from) ticks.push({ at: Date.parse(instant), label: formatTick(text, hours) });
  }
  return ticks;
}

function formatTick(local: string, hours: 12 | 24): string {
  const [date = '', time = ''] = local.split('T');
  if (time === '00:00') return `${Number(date.slice(8))} ${MONTH_NAMES[Number(date.slice(5, 7)) - 1]}`;
  if (hours === 24) return time;
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const past = minute === 0 ? '' : `:${time.slice(3)}`;
  return `${hour % 12 === 0 ? 12 : hour % 12}${past} ${hour < 12 ? 'am' : 'pm'}`;
}
