/** When pages that show items would show something else: every change of one, every occurrence too, stamps it. */
import type { LiveTopic } from '../../../ports/domain/live.js';
import type { BugDeps } from '../deps.js';

export const itemTopic = ({ items }: Pick<BugDeps, 'items'>): LiveTopic => ({
  name: 'bugs',
  mark: async () => {
    const page = await items.find({ sort: [['updated_at', 'desc']], limit: 1 });
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
