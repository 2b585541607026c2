/** How often the item happened, with the publishes of its project on the charts. */
import { DAY_MS, HOUR_MS } from '../../../../lib/time.js';
import type { Publish } from '../../builds/known-builds.js';
import type { About } from './about.js';

const DAY = 24;
const DAYS = 30;
/** Publishes that are named below the charts. */
const NAMED = 5;

/** A publish on a chart: where, from 0 to 1 of its width. */
export interface ChartMark {
  at: number;
  label: string;
}

/** Occurrences of each of the last 24 hours and 30 days, oldest first, on one scale: `top` is its end. */
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

/** The publishes that fall into a chart of columns of whole units, of which the running one is the last. */
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
