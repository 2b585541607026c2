import type { ChoosableProject, Clock, ProjectChoices } from '../../kernel/contract/index.js';
import { SECOND_MS } from '../../lib/time.js';
import type { ProjectService } from './service.js';

interface OfferedProjects {
  items: ChoosableProject[];
  more: boolean;
}

export class ProjectChoiceCache implements ProjectChoices {
  #last: { at: number; most: number; offered: Promise<OfferedProjects> } | null = null;

  constructor(
    private readonly projects: Pick<ProjectService, 'get' | 'page'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  listFirst(most: number): Promise<OfferedProjects> {
    const now = this.clock.monotonic();
    const last = this.#last;
    if (last !== null && last.most === most && now - last.at < SECOND_MS) return last.offered;
    const reading = { at: now, most, offered: this.#loadChoices(most) };
    this.#last = reading;
    // Failed reads are not cached.
    reading.offered.catch(() => (this.#last = this.#last === reading ? null : this.#last));
    return reading.offered;
  }

  async find(slug: string): Promise<ChoosableProject | null> {
    const project = await this.projects.get(slug);
    return project === null ? null : { slug, name: project.name };
  }

  async #loadChoices(most: number): Promise<OfferedProjects> {
    const page = await this.projects.page({ kind: 'public' }, { archived: false, limit: most });
    return { items: page.items.map(({ id, name }) => ({ slug: id, name })), more: page.next !== null };
  }
}
