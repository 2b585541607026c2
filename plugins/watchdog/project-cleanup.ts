/**
 * Monitors prevent a project's deletion; the history of former monitors stays, without its name.
 */
import type { ProjectCleanup, ProjectUsage } from '../../ports/domain/projects.js';
import type { Collection, Doc } from '../../ports/store/index.js';
import type { WatchdogDeps } from './deps.js';

const BATCH_SIZE = 500;

/** A deleted monitor, kept until its last event is published, does not count. */
export const createProjectUsage = ({ monitors }: Pick<WatchdogDeps, 'monitors'>): ProjectUsage => ({
  noun: 'monitors',
  isInUse: async (project) =>
    (await monitors.find({ filter: { project, deleted_at: null }, limit: 1 })).items.length > 0,
});

type CleanupCollections = Pick<WatchdogDeps, 'windows' | 'changes' | 'incidents' | 'timeline'>;

export const createProjectCleanup = ({
  windows,
  changes,
  incidents,
  timeline,
}: CleanupCollections): ProjectCleanup => ({
  async clear(project) {
    for (const rows of [windows, changes]) await rows.remove({ project });
  },
  async detach(project) {
    await clearProject(incidents, project);
    await clearProject(timeline, project);
  },
});

/** The timeline has no index by project. */
async function clearProject<T extends Doc>(rows: Collection<T>, project: string): Promise<void> {
  for (;;) {
    const { items } = await rows.find({ filter: { project }, limit: BATCH_SIZE });
    if (items.length === 0) return;
    await rows.changeMany({ id: { in: items.map(({ id }) => id) } }, { set: { project: null } });
  }
}
