import type { ProjectPartProvider } from '../../../ports/domain/projects.js';
import { listRolloutRows, type RolloutServices } from './rollout-rows.js';

/** The newest release of each channel, however old. */
const FINISHED_DAYS = 36_500;

export const buildReleasePart = (services: RolloutServices): ProjectPartProvider => ({
  id: 'releases',
  order: 50,
  loadPart: async ({ slug }) => {
    const rollouts = await listRolloutRows(services, slug, FINISHED_DAYS);
    return {
      heading: 'Latest releases',
      all: { label: 'View all releases', href: `/releases?product=${encodeURIComponent(slug)}` },
      figures: [],
      lines: [],
      rollouts,
      empty:
        rollouts.length === 0
          ? { text: 'No releases', label: 'Publish release', href: `/releases/new?product=${slug}` }
          : null,
    };
  },
});
