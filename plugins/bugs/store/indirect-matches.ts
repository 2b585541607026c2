/**
 * Items found by `client_ref`, description or comment (contract 20, endpoints); their few ids join
 * the filter.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { splitQueryWords, type ItemQuery } from '../item/filters.js';
import type { RefDoc } from '../item/model.js';
import type { SearchTextDoc } from '../item/operation-documents.js';
import { toSearchTerm } from '../text/search-text.js';
import { findIdsByClientRef } from './client-ref-lookup.js';

const MAX_NAMED_ITEMS = 1000;
const MAX_REF_LENGTH = 200;

@injectable()
export class IndirectMatchService {
  constructor(
    @inject(DEPS.refs) private readonly refs: Collection<RefDoc>,
    @inject(DEPS.words) private readonly words: Collection<SearchTextDoc>,
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
  ) {}

  /** @param query limited to the caller's projects, if any */
  async addTo(query: ItemQuery): Promise<ItemQuery> {
    const texts = (query.q ?? []).map((text) => text.trim()).filter((text) => text !== '');
    if (texts.length === 0) return query;
    const found = await Promise.all(
      texts.flatMap((text) => [
        this.#findByReference(text, query.project),
        this.#findBySearchText(text, query.project),
      ]),
    );
    return { ...query, named: [...new Set(found.flat())] };
  }

  async #findByReference(text: string, only?: readonly string[]): Promise<string[]> {
    const { refs, projects } = this;
    return text.length > MAX_REF_LENGTH ? [] : findIdsByClientRef({ refs, projects }, text, only);
  }

  async #findBySearchText(text: string, only: readonly string[] = []): Promise<string[]> {
    const queryWords = splitQueryWords(text);
    if (queryWords.length === 0) return [];
    const project = only.length === 0 ? undefined : { in: only };
    const filter = { ...(project && { project }), text: { contains: queryWords.map(toSearchTerm) } };
    const { items } = await this.words.find({ filter, sort: [['id', 'desc']], limit: MAX_NAMED_ITEMS });
    return items.map(({ id }) => id);
  }
}
