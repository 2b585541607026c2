/**
 * A disabled plugin cannot be called, so the plugins that have cleared a slug are recorded
 * permanently. The others do so before they serve requests again.
 */
import {
  addedBy,
  collection,
  inject,
  injectable,
  PORT,
  type Addition,
  type Collection,
  type Doc,
  type Logger,
} from '../../kernel/contract/index.js';
import { collectAll } from '../../lib/paging.js';
import { PROJECT_CLEANUPS, type ProjectCleanup } from '../../ports/domain/projects.js';
import { TOKENS, type TokenIssuer } from '../../ports/domain/tokens.js';

export interface DeletedSlug extends Doc {
  cleared: string[];
}

@injectable()
export class ProjectDataCleaner {
  constructor(
    @inject(TOKENS) private readonly tokens: Pick<TokenIssuer, 'removeByProject'>,
    @inject(collection<Doc>('brands')) private readonly brands: Collection<Doc>,
    @inject(collection<DeletedSlug>('deletions')) private readonly deletions: Collection<DeletedSlug>,
    @inject(addedBy(PROJECT_CLEANUPS)) private readonly belongings: () => readonly Addition<ProjectCleanup>[],
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  /** Call before creating a project: another process may have stored data under this slug. */
  async clear(slug: string): Promise<void> {
    await this.#clearPlugins(slug);
    await this.deletions.change({ id: slug }, { push: { cleared: { each: this.#listPlugins() } } });
  }

  async clearDeleted(slug: string): Promise<void> {
    await this.#clearPlugins(slug);
    for (const { value } of this.belongings()) await value.detach?.(slug);
    await this.deletions.change({ id: slug }, { set: { cleared: this.#listPlugins() } }, { upsert: true });
  }

  /** Call at start: plugins may have been disabled when a project was deleted. */
  async catchUp(): Promise<void> {
    const present = this.#listPlugins();
    for (const { id: slug, cleared } of await collectAll(this.deletions, { limit: 1000, damaged: () => undefined })) {
      for (const plugin of present.filter((one) => !cleared.includes(one))) await this.#catchUpOne(slug, plugin);
    }
  }

  async #catchUpOne(slug: string, plugin: string): Promise<void> {
    try {
      for (const { value } of this.belongings().filter((one) => one.plugin === plugin)) {
        await value.clear(slug);
        await value.detach?.(slug);
      }
      await this.deletions.change({ id: slug }, { push: { cleared: { each: [plugin] } } });
    } catch (err) {
      this.log.error({ err, project: slug, by: plugin }, 'remaining data of a deleted project could not be removed');
    }
  }

  async #clearPlugins(slug: string): Promise<void> {
    await this.tokens.removeByProject(slug);
    await this.brands.remove({ id: slug });
    for (const { value } of this.belongings()) await value.clear(slug);
  }

  #listPlugins(): string[] {
    return [...new Set(this.belongings().map(({ plugin }) => plugin))];
  }
}
