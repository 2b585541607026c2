/**
 * Queries all search providers concurrently, each with a timeout, so that a slow one does not delay
 * the others.
 */
import type { Logger } from '../../kernel/contract/index.js';
import type { SessionPrincipal } from '../../ports/http/index.js';
import { findActions, type ActionResults } from './search-actions.js';
import type { SearchHit, SearchProvider, SearchQuery } from '../../ports/domain/search.js';

const PROVIDER_TIMEOUT_MS = 1_000;
const ACTIONS_LABEL = 'Actions';

export interface SearchResultGroup {
  label: string;
  icon: string;
  hits: SearchHit[];
  more: string | null;
}

export interface SearchResults {
  exact: string | null;
  act: string | null;
  kinds: SearchResultGroup[];
  missing: string[];
}

export class SearchService {
  constructor(
    private readonly providers: () => readonly SearchProvider[],
    private readonly log: Logger,
    private readonly waitMs = PROVIDER_TIMEOUT_MS,
  ) {}

  /**
   * @param text without words returns no results
   * @param limit hits of each kind
   */
  async find(text: string, principal: SessionPrincipal, limit: number): Promise<SearchResults> {
    const question = parseQuery(text);
    if (question === null) return { exact: null, act: null, kinds: [], missing: [] };
    const providers = this.#listProviders(principal);
    const acting = this.#runWithTimeout({ label: ACTIONS_LABEL }, (signal) =>
      findActions(providers, { ...question, limit, principal, signal }),
    );
    const answers = await Promise.all(
      providers.map((provider) =>
        this.#runWithTimeout(provider, (signal) =>
          this.#queryProvider(provider, { ...question, limit: limit + 1, principal, signal }),
        ),
      ),
    );
    const missing = providers.flatMap(({ label }, i) => (answers[i] === null ? [label] : []));
    const kinds = providers.flatMap((provider, i): SearchResultGroup[] => {
      const { label, icon } = provider;
      const hits = answers[i]?.hits ?? [];
      if (hits.length === 0) return [];
      return [
        {
          label,
          icon,
          hits: hits.slice(0, limit),
          more: hits.length > limit ? (provider.getListHref?.(question.text) ?? null) : null,
        },
      ];
    });
    const acts: ActionResults | null = await acting;
    if (acts === null) missing.unshift(ACTIONS_LABEL);
    else if (acts.hits.length > 0)
      kinds.unshift({ label: ACTIONS_LABEL, icon: 'activity', hits: acts.hits, more: null });
    const exact = answers.find((answer) => answer?.exact)?.exact ?? null;
    return { exact, act: acts?.exact ?? null, kinds, missing };
  }

  #listProviders({ role }: SessionPrincipal): SearchProvider[] {
    const mine = this.providers().filter((provider) => provider.role === 'member' || role === 'admin');
    return mine.toSorted((a, b) => a.order - b.order);
  }

  async #queryProvider(
    provider: SearchProvider,
    question: SearchQuery,
  ): Promise<{ exact: string | null; hits: readonly SearchHit[] }> {
    const [exact, hits] = await Promise.all([provider.findExact?.(question) ?? null, provider.find(question)]);
    return { exact, hits };
  }

  async #runWithTimeout<T>(
    { label }: Pick<SearchProvider, 'label'>,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | null> {
    const end = new AbortController();
    const late = new Promise<never>((_, reject) => {
      end.signal.addEventListener('abort', () => reject(new Error(`took longer than ${this.waitMs} ms`)), {
        once: true,
      });
    });
    const timer = setTimeout(() => end.abort(), this.waitMs);
    try {
      return await Promise.race([work(end.signal), late]);
    } catch (err) {
      this.log.warn({ err, kind: label }, 'a part of the search failed');
      return null;
    } finally {
      clearTimeout(timer);
    }
  }
}

const MAX_QUERY_WORDS = 10;

function parseQuery(typed: string): Pick<SearchQuery, 'text' | 'words'> | null {
  const text = typed.normalize('NFC').trim();
  const words = [...new Set(text.toLowerCase().split(/\s+/))].slice(0, MAX_QUERY_WORDS);
  return text === '' ? null : { text, words };
}
