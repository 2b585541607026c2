/**
 * Hides other projects' monitors from a project token, as parent or suppressor (contract 10,
 * tokens). Names without a monitor stay visible.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { WatchdogCaller } from '../model/caller.js';
import { DEPS } from '../deps.js';
import { getMonitorId } from '../model/monitor-id.js';
import type { MonitorDoc } from '../model/documents.js';
import type { Collection } from '../../../ports/store/index.js';

const BATCH_SIZE = 500;

export interface SourceReferences {
  parent_source: string | null;
  suppressed_by: string | null;
}

export type HiddenSources = ReadonlySet<string>;

const NO_HIDDEN_SOURCES: HiddenSources = new Set();

export const maskView = <T extends Partial<SourceReferences>>(view: T, hidden: HiddenSources): T => {
  const { parent_source = null, suppressed_by = null } = view;
  return {
    ...view,
    ...(parent_source !== null && hidden.has(parent_source) && { parent_source: null }),
    ...(suppressed_by !== null && hidden.has(suppressed_by) && { suppressed_by: null }),
  };
};

@injectable()
export class SourceVisibility {
  constructor(@inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>) {}

  async findHidden(mentioned: Iterable<string | null | undefined>, caller: WatchdogCaller): Promise<HiddenSources> {
    if (caller.project === null) return NO_HIDDEN_SOURCES;
    const projects = await this.findProjects(mentioned);
    return new Set([...projects].flatMap(([name, project]) => (project === caller.project ? [] : [name])));
  }

  findHiddenInViews(views: readonly Partial<SourceReferences>[], caller: WatchdogCaller): Promise<HiddenSources> {
    return this.findHidden(
      views.flatMap(({ parent_source, suppressed_by }) => [parent_source, suppressed_by]),
      caller,
    );
  }

  async findProjects(mentioned: Iterable<string | null | undefined>): Promise<Map<string, string | null>> {
    const names = [...new Set(mentioned)].filter((name) => name !== null && name !== undefined);
    const found = new Map<string, string | null>();
    for (let i = 0; i < names.length; i += BATCH_SIZE) {
      const ids = names.slice(i, i + BATCH_SIZE).map(getMonitorId);
      const page = await this.monitors.find({ filter: { id: { in: ids }, deleted_at: null }, limit: BATCH_SIZE });
      for (const { source, project } of page.items) found.set(source, project);
    }
    return found;
  }
}
