/** What goes with a project that has no item: whoever has one is not deleted. */
import type { ProjectBelongings } from '../../ports/domain/projects.js';
import type { BugDeps } from './deps.js';

type Kept = Pick<BugDeps, 'views' | 'waiting' | 'builds' | 'ruleLists'>;

export const buildProjectBelongings = ({ views, waiting, builds, ruleLists }: Kept): ProjectBelongings => ({
  async clear(project) {
    for (const rows of [views, waiting, builds]) await rows.remove({ project });
    // A list of no rules: one with rules keeps its project.
    await ruleLists.remove({ id: project });
  },
});
