import { iterateItems } from '../../../lib/paging.js';
import type { Collection } from '../../../ports/store/index.js';
import type { ItemDoc } from '../item/model.js';

const MAX_CHAIN_LENGTH = 100;
const BATCH_SIZE = 100;

export async function findDuplicateTree(items: Collection<ItemDoc>, itemId: string): Promise<Set<string>> {
  const found = new Set([itemId]);
  for (const id of found) {
    for await (const item of iterateItems(items, { filter: { duplicate_of: id }, limit: BATCH_SIZE }))
      found.add(item.id);
  }
  return found;
}

/** Lists nearest first; the last one counts for the item. */
export async function findDuplicateChain(items: Collection<ItemDoc>, itemId: string): Promise<string[]> {
  const chain = [itemId];
  let at = itemId;
  for (let i = 0; i < MAX_CHAIN_LENGTH; i++) {
    const item: ItemDoc | null = await items.get(at);
    if (item?.status !== 'duplicate' || item.duplicate_of === null) break;
    at = item.duplicate_of;
    chain.push(at);
  }
  return chain;
}
