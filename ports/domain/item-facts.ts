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
