/** Search providers of plugins. */
import type { SessionPrincipal } from '../http/index.js';
import { extensionPoint } from '../token.js';

export interface SearchQuery {
  text: string;
  /** Lower-case words of `text`; never empty. */
  words: readonly string[];
  limit: number;
  /** Hits must respect its permissions. */
  principal: SessionPrincipal;
  signal: AbortSignal;
}

export interface SearchHit {
  title: string;
  href: string;
  /** Distinguishes hits with the same title. */
  detail?: string | null;
  state?: string | null;
}

interface SearchActionBase {
  /** Leading word: `Silence`. */
  verb: string;
  also?: readonly string[];
  role?: 'admin';
}

/** An action without a target. */
export interface PlainSearchAction extends SearchActionBase {
  /** All of its words must match. */
  noun: string;
  nouns?: readonly string[];
  href: string;
}

/** An action on a target: `Silence web-1`. */
export interface TargetedSearchAction extends SearchActionBase {
  /** Returns targets, best first. `words` and `text` exclude the verb. */
  readonly on: (question: SearchQuery) => Promise<readonly SearchHit[]>;
}

export type SearchAction = PlainSearchAction | TargetedSearchAction;

/** Searches one kind of object. */
export interface SearchProvider {
  label: string;
  /** Icon name in web/assets/icons. */
  icon: string;
  order: number;
  role: 'member' | 'admin';
  /** Best first. Results after one second are dropped: use an index, or small data. */
  find(question: SearchQuery): Promise<readonly SearchHit[]>;
  /** Finds the object named exactly, to redirect to. */
  findExact?(question: SearchQuery): Promise<string | null>;
  /** Each leads to a form and changes nothing itself. */
  acts?: readonly SearchAction[];
  getListHref?(text: string): string;
}

export const SEARCH_PROVIDERS = extensionPoint<SearchProvider>('search.providers');
