/**
 * What is deleted together with a project without items. A project with items cannot be deleted.
 */
import type { ProjectBelongings } from '../../ports/domain/projects.js';
import type { BugDeps } from './deps.js';

type Kept = Pick<BugDeps, 'views' | 'waiting' | 'builds' | 'ruleLists'>;

export const buildProjectBelongings = ({ views, waiting, builds, ruleLists }: Kept): ProjectBelongings => ({
  async clear(project) {
    for (const rows of [views, waiting, builds]) await rows.remove({ project });
    // Only an empty rule list is removed: a project with rules cannot be deleted.
    await ruleLists.remove({ id: project });
  },
});
