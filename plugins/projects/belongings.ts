/**
 * What goes with a project, wherever it is kept: tokens first, which end at once.
 *
 * A plugin that is off when a project goes cannot be asked. So it is written down for each deleted slug which plugins
 * have cleared it, for ever; the others do so before anybody is served once they are on again.
 */
import {
  addedBy,
  collection,
  inject,
  injectable,
  PORT,
  type Added,
  type Collection,
  type Doc,
  type Logger,
} from '../../kernel/contract.js';
import { all } from '../../lib/paging.js';
import { PROJECT_BELONGINGS, type ProjectBelongings } from '../../ports/domain/projects.js';
import { TOKENS, type TokenIssuer } from '../../ports/domain/tokens.js';

/** A slug of which a project was deleted. */
export interface DeletedSlug extends Doc {
  /** The plugins that have nothing of it. */
  cleared: string[];
}

@injectable()
export class Belongings {
  constructor(
    @inject(TOKENS) private readonly tokens: Pick<TokenIssuer, 'removeProject'>,
    @inject(collection<Doc>('brands')) private readonly brands: Collection<Doc>,
    @inject(collection<DeletedSlug>('deletions')) private readonly deletions: Collection<DeletedSlug>,
    @inject(addedBy(PROJECT_BELONGINGS)) private readonly belongings: () => readonly Added<ProjectBelongings>[],
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  /** Before a project is made: what a process bound to an earlier one of this slug while that was being deleted. */
  async clear(slug: string): Promise<void> {
    await this.#clear(slug);
    await this.deletions.change({ id: slug }, { push: { cleared: { each: this.#plugins() } } });
  }

  /** With its project. */
  async leave(slug: string): Promise<void> {
    await this.#clear(slug);
    for (const { value } of this.belongings()) await value.detach?.(slug);
    await this.deletions.change({ id: slug }, { set: { cleared: this.#plugins() } }, { upsert: true });
  }

  /** At the start: what plugins have kept that were off when its project went. */
  async catchUp(): Promise<void> {
    const present = this.#plugins();
    for (const { id: slug, cleared } of await all(this.deletions, { limit: 1000, damaged: () => undefined })) {
      for (const plugin of present.filter((one) => !cleared.includes(one))) await this.#catchUpOne(slug, plugin);
    }
  }

  /** One that fails is asked again at the next start, and stops no other. */
  async #catchUpOne(slug: string, plugin: string): Promise<void> {
    try {
      for (const { value } of this.belongings().filter((one) => one.plugin === plugin)) {
        await value.clear(slug);
        await value.detach?.(slug);
      }
      await this.deletions.change({ id: slug }, { push: { cleared: { each: [plugin] } } });
    } catch (err) {
      this.log.error({ err, project: slug, by: plugin }, 'what was left of a deleted project was not removed');
    }
  }

  async #clear(slug: string): Promise<void> {
    await this.tokens.removeProject(slug);
    await this.brands.remove({ id: slug });
    for (const { value } of this.belongings()) await value.clear(slug);
  }

  #plugins(): string[] {
    return [...new Set(this.belongings().map(({ plugin }) => plugin))];
  }
}
