import { MAX_AHEAD_MS } from '../../../lib/clock-skew.js';
import { toIsoString } from '../../../lib/time.js';
import type { LiveTopic } from '../../../ports/domain/live-topics.js';
import type { BugDeps } from '../deps.js';

export const buildItemListTopic = ({ items, clock }: Pick<BugDeps, 'items' | 'clock'>): LiveTopic => ({
  name: 'bugs',
  getRevision: async () => {
    // A clock that moved backwards would hide all changes until it catches up.
    const filter = { updated_at: { lte: toIsoString(clock.now() + MAX_AHEAD_MS) } };
    const page = await items.find({ filter, sort: [['updated_at', 'desc']], limit: 1 });
    const newest = page.items[0];
    return newest === undefined ? '' : `${newest.id} ${newest.updated_at}`;
  },
});

/** Reports, comments and lease renewals update the timestamp too. */
export const buildItemTopic = ({ items }: Pick<BugDeps, 'items'>): LiveTopic => ({
  name: 'bug',
  getRevision: async (subject) => {
    const item = await items.get(subject);
    return item === null ? '' : `${item.rev} ${item.updated_at}`;
  },
});
