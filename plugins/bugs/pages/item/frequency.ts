/** How often the item happened. */
import type { About } from './about.js';

const DAY = 24;

/** Occurrences of each of the last 24 hours and 30 days, oldest first, on one scale: `top` is its end. */
export function frequency({ page: { services }, doc }: About): object {
  const hours = services.board.hours(doc, DAY);
  const days = services.board.days(doc);
  return { hours, days, top: Math.max(...hours, ...days) };
}
