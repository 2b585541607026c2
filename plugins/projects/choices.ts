import type { ChoosableProject, Clock, ProjectChoices } from '../../kernel/contract.js';
import { SECOND_MS } from '../../lib/time.js';
import type { Projects } from './service.js';

interface Offered {
  items: ChoosableProject[];
  more: boolean;
}

export class Choices implements ProjectChoices {
  #last: { at: number; most: number; offered: Promise<Offered> } | null = null;

  constructor(
    private readonly projects: Pick<Projects, 'get' | 'page'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  first(most: number): Promise<Offered> {
    const now = this.clock.monotonic();
    const last = this.#last;
    if (last !== null && last.most === most && now - last.at < SECOND_MS) return last.offered;
    const reading = { at: now, most, offered: this.#read(most) };
    this.#last = reading;
    // Failed reads are not cached.
    reading.offered.catch(() => (this.#last = this.#last === reading ? null : this.#last));
    return reading.offered;
  }

  async find(slug: string): Promise<ChoosableProject | null> {
    const project = await this.projects.get(slug);
    return project === null ? null : { slug, name: project.name };
  }

  async #read(most: number): Promise<Offered> {
    const page = await this.projects.page({ kind: 'public' }, { archived: false, limit: most });
    return { items: page.items.map(({ id, name }) => ({ slug: id, name })), more: page.next !== null };
  }
}
