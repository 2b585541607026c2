/**
 * Counts the users of an item's duplicates once (contract 21, people affected). The sketch is
 * rebuilt from the stored items on every merge or split, so repeats change nothing.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { mergeSketches } from '../../../lib/text/distinct-sketch.js';
import { DEPS } from '../deps.js';
import { toPeopleFields, getSketches, buildSketchFilter } from '../store/people-sketches.js';
import { findDuplicateChain, findDuplicateTree } from './duplicate-chain.js';
import type { ItemDoc } from '../item/model.js';
import type { Collection } from '../../../ports/store/index.js';

@injectable()
export class MergedPeopleCounter {
  constructor(@inject(DEPS.items) private readonly items: Collection<ItemDoc>) {}

  async recount(itemIds: readonly string[]): Promise<void> {
    const chains = await Promise.all(itemIds.map((id) => findDuplicateChain(this.items, id)));
    for (const id of new Set(chains.flat())) await this.#recountItem(id);
  }

  async #recountItem(itemId: string): Promise<void> {
    const items = this.items;
    for (;;) {
      const merged = await this.#buildMergedSketch(itemId);
      const item = await items.get(itemId);
      if (item === null) return;
      const before = getSketches(item);
      if (before.merged === merged) return;
      const { people, people_merged } = toPeopleFields({ ...before, merged });
      const changed = await items.change(
        { id: itemId, ...buildSketchFilter(before) },
        { set: { people, people_merged } },
      );
      // Of two concurrent moves, the last writer sees both.
      if (changed !== null && (await this.#buildMergedSketch(itemId)) === merged) return;
    }
  }

  async #buildMergedSketch(itemId: string): Promise<string | null> {
    let merged: string | null = null;
    for (const id of await findDuplicateTree(this.items, itemId)) {
      if (id !== itemId) merged = mergeSketches(merged, (await this.items.get(id))?.people_sketch ?? null);
    }
    return merged;
  }
}
