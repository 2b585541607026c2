/** Deleted with a project; one with items cannot be deleted. */
import type { ProjectCleanup } from '../../ports/domain/projects.js';
import type { BugDeps } from './deps.js';

type ProjectCollections = Pick<BugDeps, 'views' | 'waiting' | 'builds' | 'ruleLists'>;

export const buildProjectBelongings = ({ views, waiting, builds, ruleLists }: ProjectCollections): ProjectCleanup => ({
  async clear(project) {
    for (const rows of [views, waiting, builds]) await rows.remove({ project });
    // A project with rules cannot be deleted.
    await ruleLists.remove({ id: project });
  },
});
