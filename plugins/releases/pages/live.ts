/** The live topic of releases: its mark changes when their pages would show something else. */
import { AHEAD_MS } from '../../../lib/clock-skew.js';
import { isoOf } from '../../../lib/time.js';
import type { LiveTopic } from '../../../ports/domain/live.js';
import type { ReleaseDeps } from '../deps.js';

export const createReleaseTopic = ({ releases, clock }: Pick<ReleaseDeps, 'releases' | 'clock'>): LiveTopic => ({
  name: 'releases',
  mark: async () => {
    // Stamps of a clock that was put back since would hide every change until it is there again.
    const filter = { updated_at: { lte: isoOf(clock.now() + AHEAD_MS) } };
    const page = await releases.find({ filter, sort: [['updated_at', 'desc']], limit: 1 });
    const newest = page.items[0];
    return newest === undefined ? '' : `${newest.id} ${newest.updated_at}`;
  },
});
