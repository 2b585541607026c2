/** What other plugins say of an item on its page. */
import { extensionPoint } from '../token.js';
import type { Item } from './item.js';

/** A row of what an item's page says at its side; a text, or a time (RFC 3339). */
export interface ItemFact {
  label: string;
  value?: string | null;
  at?: string | null;
}

/** What another plugin knows of an item. */
export interface ItemFacts {
  /** The live topic whose mark moves when these facts of an item do; its subject is the item's id. */
  readonly topic?: string;
  of(item: Item): Promise<readonly ItemFact[]>;
}

export const ITEM_FACTS = extensionPoint<ItemFacts>('bugs.item_facts');
