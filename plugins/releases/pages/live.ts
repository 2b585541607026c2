/** The live topic of releases: its mark changes when their pages would show something else. */
import type { LiveTopic } from '../../../ports/domain/live.js';
import type { ReleaseDeps } from '../deps.js';

export const releaseTopic = ({ releases }: Pick<ReleaseDeps, 'releases'>): LiveTopic => ({
  name: 'releases',
  mark: async () => {
    const page = await releases.find({ sort: [['updated_at', 'desc']], limit: 1 });
    const newest = page.items[0];
    return newest === undefined ? '' : `${newest.id} ${newest.updated_at}`;
  },
});
