/**
 * The people of an item's duplicates count for the item as well, each of them once (contract 21, people affected). An
 * item keeps the sketch of its own reports, and beside it that of its duplicates, which is made anew from the stored
 * items whenever one joins or leaves: so a split leaves nothing behind, and a repeat after a crash changes nothing.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { mergeSketches } from '../../../lib/text/distinct-sketch.js';
import { DEPS, type BugDeps } from '../deps.js';
import { toPeopleFields, getSketches, buildSketchFilter } from '../store/people.js';
import { findDuplicateChain, findDuplicateTree } from './chain.js';

@injectable()
export class MergedPeople {
  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'items'>) {}

  /** Counts anew for these items, and for all that they are duplicates of. */
  async count(itemIds: readonly string[]): Promise<void> {
    const chains = await Promise.all(itemIds.map((id) => findDuplicateChain(this.deps.items, id)));
    for (const id of new Set(chains.flat())) await this.#countOf(id);
  }

  async #countOf(itemId: string): Promise<void> {
    const { items } = this.deps;
    for (;;) {
      const merged = await this.#merged(itemId);
      const item = await items.get(itemId);
      if (item === null) return;
      const before = getSketches(item);
      if (before.merged === merged) return;
      const { people, people_merged } = toPeopleFields({ ...before, merged });
      const changed = await items.change(
        { id: itemId, ...buildSketchFilter(before) },
        { set: { people, people_merged } },
      );
      // Of two moves at the same time the last one to write sees both.
      if (changed !== null && (await this.#merged(itemId)) === merged) return;
    }
  }

  async #merged(itemId: string): Promise<string | null> {
    let merged: string | null = null;
    for (const id of await findDuplicateTree(this.deps.items, itemId)) {
      if (id !== itemId) merged = mergeSketches(merged, (await this.deps.items.get(id))?.people_sketch ?? null);
    }
    return merged;
  }
}
