/** What the search lets others add: where it looks. Each plugin searches what is its own, by its own indexes. */
import type { SessionPrincipal } from '../http.js';
import { extensionPoint } from '../token.js';

export interface SearchQuestion {
  /** As it was typed, 1 to 200 characters without blanks at its ends. */
  text: string;
  /** The same in lower case, at its blanks; never empty. */
  words: readonly string[];
  /** Hits that are wanted at most. */
  limit: number;
  /** Who asks: what the account may not see is no hit. */
  principal: SessionPrincipal;
  /** Aborts when nobody waits for the answer any longer. */
  signal: AbortSignal;
}

export interface SearchHit {
  title: string;
  /** A path of this service. */
  href: string;
  /** A line that tells it from others of the same title. */
  detail?: string | null;
  /** What stands beside it as a badge: `open`, `down`, `revoked`. */
  state?: string | null;
}

interface Act {
  /** What it does, the first of its words: `Silence`. */
  verb: string;
  /** Other words for it. */
  also?: readonly string[];
  /** The least role that may do it; without one, the provider's. */
  role?: 'admin';
}

/** Something to do without anything named: `New monitor`. */
export interface PlainAct extends Act {
  /** What it is done to or makes, in words that are all looked for: `monitor`. */
  noun: string;
  /** Other nouns. */
  nouns?: readonly string[];
  /** The form that does it. */
  href: string;
}

/** Something to do with a thing that the words after the verb name: `Silence web-1`. */
export interface ActOn extends Act {
  /** The things, best first, each with the address of its form. `words` and `text` are those after the verb. */
  readonly on: (question: SearchQuestion) => Promise<readonly SearchHit[]>;
}

export type SearchAct = PlainAct | ActOn;

/** One kind of things that can be found. */
export interface SearchProvider {
  /** In the plural: `Monitors`. */
  label: string;
  /** Name of an icon in web/assets/icons. */
  icon: string;
  /** Kinds are shown by rising order. */
  order: number;
  /** The least role that finds anything. */
  role: 'member' | 'admin';
  /**
   * The best `limit` hits, best first. Its answer counts only while the asker waits, which is a second; so it goes by
   * an index, or over what is small or in memory.
   */
  find(question: SearchQuestion): Promise<readonly SearchHit[]>;
  /** The path of the one thing that the text names in full (a ref, a key); null: none. The visitor is led there. */
  exact?(question: SearchQuestion): Promise<string | null>;
  /** What can be done with things of this kind, from the search: each leads to a form, and changes nothing itself. */
  acts?: readonly SearchAct[];
  /** The list that shows every hit. */
  more?(text: string): string;
}

export const SEARCH_PROVIDERS = extensionPoint<SearchProvider>('search.providers');
