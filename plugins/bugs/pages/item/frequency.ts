import { DAY_MS, HOUR_MS } from '../../../../lib/time.js';
import type { Publish } from '../../builds/known-builds.js';
import type { About } from './about.js';

const DAY = 24;
const DAYS = 30;
const NAMED = 5;

export interface ChartMark {
  at: number;
  label: string;
}

export async function frequency({ page: { services, deps }, item, doc }: About): Promise<object> {
  const hours = services.board.hours(doc, DAY);
  const days = services.board.days(doc);
  const publishes = await services.timeline.publishes(item.project, DAYS * DAY_MS);
  const now = deps.clock.now();
  return {
    hours,
    days,
    top: Math.max(...hours, ...days),
    hour_marks: marksOf(publishes, now, { unit: HOUR_MS, length: DAY }),
    day_marks: marksOf(publishes, now, { unit: DAY_MS, length: DAYS }),
    publishes: publishes.slice(0, NAMED),
    more_publishes: Math.max(0, publishes.length - NAMED),
  };
}

export function marksOf(
  publishes: readonly Publish[],
  now: number,
  { unit, length }: { unit: number; length: number },
): ChartMark[] {
  const from = (Math.floor(now / unit) - length + 1) * unit;
  return publishes.flatMap(({ version, published_at }) => {
    const at = (Date.parse(published_at) - from) / (unit * length);
    return at < 0 || at > 1 ? [] : [{ at, label: version }];
  });
}
