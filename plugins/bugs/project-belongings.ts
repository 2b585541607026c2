/** Deleted with a project; one with items cannot be deleted. */
import type { ProjectCleanup } from '../../ports/domain/projects.js';
import type { BugDeps } from './deps.js';
import type { ErrorTrafficService } from './lists/error-traffic.js';

type ProjectCollections = Pick<BugDeps, 'views' | 'waiting' | 'builds' | 'ruleLists'>;

export const buildProjectBelongings = (
  { views, waiting, builds, ruleLists }: ProjectCollections,
  traffic: Pick<ErrorTrafficService, 'removeProject'>,
): ProjectCleanup => ({
  async clear(project) {
    for (const rows of [views, waiting, builds]) await rows.remove({ project });
    await traffic.removeProject(project);
    // A project with rules cannot be deleted.
    await ruleLists.remove({ id: project });
  },
});
