import { extensionPoint } from '../token.js';
import type { Item } from './item.js';

/** A row in the sidebar of an item's page: text or time (RFC 3339). */
export interface ItemFact {
  label: string;
  value?: string | null;
  at?: string | null;
}

/** Facts of another plugin about an item. */
export interface ItemFactProvider {
  /** Its subject is the item's id. */
  readonly topic?: string;
  listFacts(item: Item): Promise<readonly ItemFact[]>;
}

export const ITEM_FACTS = extensionPoint<ItemFactProvider>('bugs.item_facts');

/** What an item's page can offer about agents. */
export interface AgentOffer {
  /** Names of known agents, most recent first. */
  agents: readonly string[];
  /** Whether a request would start one. */
  isListening: boolean;
  /** Path that a form posts `agent` to. */
  path: string;
  /** Page on which an agent is connected. */
  setupPath: string;
  /** The last request, until the item is decided. */
  current: { agent: string; requested_at: string; state: 'pending' | 'delivered' } | null;
}

export interface AgentAssigner {
  /** @returns null for an item that no agent can be assigned to */
  getOffer(item: Item): Promise<AgentOffer | null>;
}

export const AGENT_ASSIGNERS = extensionPoint<AgentAssigner>('bugs.agent_assigners');

/** Pages of a published version. */
export interface ReleaseLinkProvider {
  /**
   * @param published_at first publish, RFC 3339
   * @returns null where no page shows it
   */
  findLinks(
    project: string,
    version: string,
    published_at: string,
  ): Promise<{ href: string; halt_href: string | null } | null>;
}

export const RELEASE_LINKS = extensionPoint<ReleaseLinkProvider>('bugs.release_links');
