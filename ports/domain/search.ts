/** Search providers of plugins; each searches its own data by its own indexes. */
import type { SessionPrincipal } from '../http.js';
import { extensionPoint } from '../token.js';

export interface SearchQuery {
  /** Entered text, trimmed, 1 to 200 characters. */
  text: string;
  /** Lower-case words of `text`; never empty. */
  words: readonly string[];
  limit: number;
  /** Searching account; hits must respect its permissions. */
  principal: SessionPrincipal;
  /** Aborts when the response is no longer awaited. */
  signal: AbortSignal;
}

export interface SearchHit {
  title: string;
  /** Path in this service. */
  href: string;
  /** Distinguishes hits with the same title. */
  detail?: string | null;
  /** Badge: `open`, `down`, `revoked`. */
  state?: string | null;
}

interface SearchActionBase {
  /** Leading word: `Silence`. */
  verb: string;
  /** Synonyms. */
  also?: readonly string[];
  /** Required role; defaults to the provider's. */
  role?: 'admin';
}

/** An action without a target: `New monitor`. */
export interface PlainSearchAction extends SearchActionBase {
  /** Object of the action; all of its words must match: `monitor`. */
  noun: string;
  /** Synonyms. */
  nouns?: readonly string[];
  /** Form that performs the action. */
  href: string;
}

/** An action on a target named after the verb: `Silence web-1`. */
export interface TargetedSearchAction extends SearchActionBase {
  /**
   * Returns targets, best first, with the URL of their form. `words` and `text` exclude the verb.
   */
  readonly on: (question: SearchQuery) => Promise<readonly SearchHit[]>;
}

export type SearchAction = PlainSearchAction | TargetedSearchAction;

/** Searches one kind of object. */
export interface SearchProvider {
  /** Plural: `Monitors`. */
  label: string;
  /** Icon name in web/assets/icons. */
  icon: string;
  /** Ascending display order. */
  order: number;
  /** Minimum role. */
  role: 'member' | 'admin';
  /**
   * Returns the best `limit` hits, best first. Results after one second are dropped: use an index,
   * or small or in-memory data.
   */
  find(question: SearchQuery): Promise<readonly SearchHit[]>;
  /** Returns the path of the object named exactly (a ref, a key), to redirect to, or null. */
  findExact?(question: SearchQuery): Promise<string | null>;
  /** Actions offered in the search; each leads to a form and changes nothing itself. */
  acts?: readonly SearchAction[];
  /** Returns the path of the list with every hit. */
  getListHref?(text: string): string;
}

export const SEARCH_PROVIDERS = extensionPoint<SearchProvider>('search.providers');
