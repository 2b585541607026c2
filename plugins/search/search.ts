/**
 * Queries all search providers concurrently, each with a timeout, so that a slow one does not delay
 * the others.
 */
import type { Logger } from '../../kernel/contract.js';
import type { SessionPrincipal } from '../../ports/http.js';
import { findActs, type FoundActs } from './acts.js';
import type { SearchHit, SearchProvider, SearchQuestion } from '../../ports/domain/search.js';

const WAIT_MS = 1_000;
const ACTIONS = 'Actions';

export interface FoundKind {
  label: string;
  icon: string;
  hits: SearchHit[];
  more: string | null;
}

export interface SearchResults {
  exact: string | null;
  act: string | null;
  kinds: FoundKind[];
  missing: string[];
}

export class Search {
  constructor(
    private readonly providers: () => readonly SearchProvider[],
    private readonly log: Logger,
    private readonly waitMs = WAIT_MS,
  ) {}

  /**
   * @param text without words returns no results
   * @param limit hits of each kind
   */
  async find(text: string, principal: SessionPrincipal, limit: number): Promise<SearchResults> {
    const question = questionOf(text);
    if (question === null) return { exact: null, act: null, kinds: [], missing: [] };
    const asked = this.#of(principal);
    const acting = this.#within({ label: ACTIONS }, (signal) =>
      findActs(asked, { ...question, limit, principal, signal }),
    );
    const answers = await Promise.all(
      asked.map((provider) =>
        this.#within(provider, (signal) => this.#ask(provider, { ...question, limit: limit + 1, principal, signal })),
      ),
    );
    const missing = asked.flatMap(({ label }, i) => (answers[i] === null ? [label] : []));
    const kinds = asked.flatMap((provider, i): FoundKind[] => {
      const { label, icon } = provider;
      const hits = answers[i]?.hits ?? [];
      if (hits.length === 0) return [];
      return [
        {
          label,
          icon,
          hits: hits.slice(0, limit),
          more: hits.length > limit ? (provider.more?.(question.text) ?? null) : null,
        },
      ];
    });
    const acts: FoundActs | null = await acting;
    if (acts === null) missing.unshift(ACTIONS);
    else if (acts.hits.length > 0) kinds.unshift({ label: ACTIONS, icon: 'activity', hits: acts.hits, more: null });
    const exact = answers.find((answer) => answer?.exact)?.exact ?? null;
    return { exact, act: acts?.exact ?? null, kinds, missing };
  }

  #of({ role }: SessionPrincipal): SearchProvider[] {
    const mine = this.providers().filter((provider) => provider.role === 'member' || role === 'admin');
    return mine.toSorted((a, b) => a.order - b.order);
  }

  async #ask(
    provider: SearchProvider,
    question: SearchQuestion,
  ): Promise<{ exact: string | null; hits: readonly SearchHit[] }> {
    const [exact, hits] = await Promise.all([provider.exact?.(question) ?? null, provider.find(question)]);
    return { exact, hits };
  }

  async #within<T>(
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

const MOST_WORDS = 10;

function questionOf(typed: string): Pick<SearchQuestion, 'text' | 'words'> | null {
  const text = typed.normalize('NFC').trim();
  const words = [...new Set(text.toLowerCase().split(/\s+/))].slice(0, MOST_WORDS);
  return text === '' ? null : { text, words };
}
