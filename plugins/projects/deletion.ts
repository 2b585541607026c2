/**
 * Deletes projects (contract 15, deleting and archiving) in this order: archive the project, which
 * stops reports and publishes → ask every plugin whether it uses the project; if so, restore it and
 * reject the deletion → set `leaving_by`, which hides the project and keeps its slug reserved →
 * delete dependent data → audit log → delete the project.
 */
import {
  added,
  collection,
  inject,
  injectable,
  PORT,
  type Clock,
  type Collection,
  type Principal,
} from '../../kernel/contract/index.js';
import { conflict } from '../../kernel/errors.js';
import { buildElapsedFilter } from '../../lib/clock-skew.js';
import { SECOND_MS } from '../../lib/time.js';
import { AUDIT, type Actor, type AuditLog } from '../../ports/domain/audit.js';
import { PROJECT_USAGE, type ProjectUsage } from '../../ports/domain/projects.js';
import { ProjectDataCleaner } from './project-data-cleaner.js';
import { ProjectService } from './service.js';
import { getActorName, type Project } from './project.js';

const STALE_MARKER_MS = 60 * SECOND_MS;

@injectable()
export class ProjectDeletionService {
  constructor(
    @inject(collection<Project>('projects')) private readonly rows: Collection<Project>,
    @inject(ProjectService) private readonly projects: ProjectService,
    @inject(ProjectDataCleaner) private readonly belongings: ProjectDataCleaner,
    @inject(added(PROJECT_USAGE)) private readonly usages: () => readonly ProjectUsage[],
    @inject(AUDIT) private readonly audit: AuditLog,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  /** @throws ServiceError not_found, insufficient_scope, conflict naming what uses it */
  async remove(actor: Principal, slug: string): Promise<void> {
    const before = await this.projects.getProject(actor, slug);
    if (!before.archived) await this.projects.setFields(slug, { archived: true });
    const nouns = await this.#listUses(slug);
    if (nouns.length > 0) {
      if (!before.archived) await this.projects.setFields(slug, { archived: false });
      throw conflict(`The project ${slug} has ${nouns.join(', ')}: it can only be archived.`);
    }
    await this.#finish(await this.projects.setFields(slug, { leaving_by: getActorName(actor) }), actor);
  }

  async reconcile(): Promise<void> {
    const cutOff = {
      leaving_by: { exists: true },
      ...buildElapsedFilter('updated_at', STALE_MARKER_MS, this.clock.now()),
    };
    for (const project of (await this.rows.find({ filter: cutOff, limit: 100 })).items)
      await this.#finish(project, 'system');
  }

  async #finish({ id, number, leaving_by = '' }: Project, actor: Actor): Promise<void> {
    await this.belongings.clearDeleted(id);
    await this.audit.record(actor, 'project.deleted', id, { number, ...(actor === 'system' && { by: leaving_by }) });
    await this.rows.remove({ id, number });
    this.projects.invalidate(id);
  }

  async #listUses(slug: string): Promise<string[]> {
    const nouns = await Promise.all(
      this.usages().map(async (usage) => ((await usage.isInUse(slug)) ? usage.noun : null)),
    );
    return nouns.filter((noun) => noun !== null);
  }
}
