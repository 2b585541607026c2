/** When pages that show items would show something else: every change of one, every occurrence too, stamps it. */
import { AHEAD_MS } from '../../../lib/clock-skew.js';
import { isoOf } from '../../../lib/time.js';
import type { LiveTopic } from '../../../ports/domain/live.js';
import type { BugDeps } from '../deps.js';

export const itemTopic = ({ items, clock }: Pick<BugDeps, 'items' | 'clock'>): LiveTopic => ({
  name: 'bugs',
  mark: async () => {
    // Stamps of a clock that was put back since would hide every change until it is there again.
    const filter = { updated_at: { lte: isoOf(clock.now() + AHEAD_MS) } };
    const page = await items.find({ filter, sort: [['updated_at', 'desc']], limit: 1 });
    const newest = page.items[0];
    return newest === undefined ? '' : `${newest.id} ${newest.updated_at}`;
  },
});

/** The page of one item; the subject is its id. A report, a comment and a renewed lease stamp the item as well. */
export const oneItemTopic = ({ items }: Pick<BugDeps, 'items'>): LiveTopic => ({
  name: 'bug',
  mark: async (subject) => {
    const item = await items.get(subject);
    return item === null ? '' : `${item.rev} ${item.updated_at}`;
  },
});
