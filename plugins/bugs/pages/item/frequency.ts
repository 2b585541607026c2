/** How often the item happened. */
import type { About } from './about.js';

const DAY = 24;

/** Occurrences of each of the last 24 hours and 30 days, oldest first. */
export function frequency({ page: { services }, doc }: About): object {
  return {
    hours: services.board.hours(doc, DAY),
    days: services.board.days(doc),
  };
}
