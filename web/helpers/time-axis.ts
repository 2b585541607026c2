/**
 * Round times of a zone for a chart's axis; D3's time scale supports only the process's zone and
 * UTC.
 */
import { localOf, utcOfLocal } from '../../lib/local-time.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 5, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 4, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 3, 7].map((n) => n * DAY),
];
const MOST = 7;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export interface TimeTick {
  at: number;
  label: string;
}

/**
 * Returns at most seven ticks, evenly spaced on the zone's clock; empty for an invalid span.
 * @param zone IANA name
 * @param hours of the reader's clock
 */
export function timeTicks(from: number, to: number, zone: string, hours: 12 | 24 = 24): TimeTick[] {
  if (!(to > from)) return [];
  const step = STEPS.find((one) => (to - from) / one <= MOST) ?? Math.ceil((to - from) / MOST / DAY) * DAY;
  const ticks: TimeTick[] = [];
  const first = Math.floor(Date.parse(`${localOf(from, zone)}Z`) / step) * step;
  for (let local = first; ticks.length <= MOST; local += step) {
    const text = new Date(local).toISOString().slice(0, 16);
    const instant = utcOfLocal(text, zone);
    if (instant === null || Date.parse(instant) > to) break;
    if (Date.parse(instant) >= from) ticks.push({ at: Date.parse(instant), label: labelOf(text, hours) });
  }
  return ticks;
}

function labelOf(local: string, hours: 12 | 24): string {
  const [date = '', time = ''] = local.split('T');
  if (time === '00:00') return `${Number(date.slice(8))} ${MONTHS[Number(date.slice(5, 7)) - 1]}`;
  if (hours === 24) return time;
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const past = minute === 0 ? '' : `:${time.slice(3)}`;
  return `${hour % 12 === 0 ? 12 : hour % 12}${past} ${hour < 12 ? 'am' : 'pm'}`;
}
