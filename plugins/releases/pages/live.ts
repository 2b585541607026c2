import { MAX_AHEAD_MS } from '../../../lib/clock-skew.js';
import { toIsoString } from '../../../lib/time.js';
import type { LiveTopic } from '../../../ports/domain/live-topics.js';
import type { ReleaseDeps } from '../deps.js';

export const createReleaseTopic = ({ releases, clock }: Pick<ReleaseDeps, 'releases' | 'clock'>): LiveTopic => ({
  name: 'releases',
  getRevision: async () => {
    // A clock that moved backwards would hide every change until it catches up.
    const filter = { updated_at: { lte: toIsoString(clock.now() + MAX_AHEAD_MS) } };
    const page = await releases.find({ filter, sort: [['updated_at', 'desc']], limit: 1 });
    const newest = page.items[0];
    return newest === undefined ? '' : `${newest.id} ${newest.updated_at}`;
  },
});
