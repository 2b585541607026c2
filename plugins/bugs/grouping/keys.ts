/**
 * Which item a report belongs to (contract 21, many keys per item). A known key decides at once. An unknown one is decided
 * by its family, the document that all origins of one class and message share, with compare-and-set: so parallel first
 * reports agree, in one process or in many.
 *
 * Order: family (marker: `recent` names the decision) → key → item. Whoever meets a decided key whose item is missing
 * completes it from the report at hand, so a crash between two steps blocks nobody (docs/consistency.md, Items).
 *
 * Rejected: a lock document per key (a holder that dies blocks its group), and an upsert of the item by its key (an item
 * has many keys).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { StoreConflict } from '../../../ports/store.js';
import { DEPS, hashOf, type Deps } from '../deps.js';
import type { FamilyDoc } from '../items/model.js';
import { Recent } from '../intake/recent.js';

/** Keys that this process met lately. */
const CACHED_KEYS = 20_000;
/**
 * For how long a key's item is believed unasked. Keys move only when items are merged or split; a merged item's lane refuses
 * to be counted blindly, so what another process merged is noticed at once, and what it split within this time.
 */
const BELIEVED_MS = 2_000;

/** Decisions that a family remembers: more than can be under way at once. */
const REMEMBERED = 100;

export interface Keyed {
  project: string;
  dedup_key: string;
  /** The key that the same report would have without origin. */
  bare_key: string;
  /** Empty when the report names none. */
  origin: string;
}

@injectable()
export class Keys {
  #recent: Recent<string>;

  constructor(@inject(DEPS) private readonly deps: Deps) {
    this.#recent = this.#empty();
  }

  #empty(): Recent<string> {
    return new Recent(CACHED_KEYS, BELIEVED_MS, () => this.deps.clock.monotonic());
  }

  /** Keys were led elsewhere. A look-up under way fills what nobody asks any more. */
  forget(): void {
    this.#recent = this.#empty();
  }

  /** The item that counts for a known key, or null. */
  async known(project: string, key: string): Promise<string | null> {
    const id = hashOf(project, key);
    const recent = this.#recent;
    const item = recent.get(id);
    if (item !== undefined) return item;
    const found = await this.deps.keys.get(id);
    const counting = found?.counts_at ?? found?.item_id ?? null;
    if (counting !== null) recent.set(id, counting);
    return counting;
  }

  /** The item that the report belongs to; `adopted` when an item without origin got this one. */
  async decide(keyed: Keyed): Promise<{ item_id: string; adopted: boolean }> {
    const { keys } = this.deps;
    const decision = await this.#byFamily(keyed);
    const id = hashOf(keyed.project, keyed.dedup_key);
    try {
      await keys.insert({ id, project: keyed.project, key: keyed.dedup_key, item_id: decision.item_id });
      return decision;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      const winner = await keys.get(id);
      return { item_id: winner?.counts_at ?? winner?.item_id ?? decision.item_id, adopted: false };
    }
  }

  async #byFamily(keyed: Keyed): Promise<{ item_id: string; adopted: boolean }> {
    const { families, ids } = this.deps;
    const id = hashOf(keyed.project, keyed.bare_key);
    for (;;) {
      const family = await families.get(id);
      // A decision may have been made, completed and forgotten since the key was looked up.
      const known = await this.known(keyed.project, keyed.dedup_key);
      if (known !== null) return { item_id: known, adopted: false };
      const next = family === null ? null : decideIn(family, keyed);
      if (next?.done) return { item_id: next.item_id, adopted: false };
      const item = next?.item_id ?? ids.uuid();
      const isNew = next === null || next.item_id === null;
      if (await this.#write(id, keyed, family, item, isNew))
        return { item_id: item, adopted: !isNew && keyed.origin !== '' };
    }
  }

  async #write(id: string, keyed: Keyed, family: FamilyDoc | null, item: string, isNew: boolean): Promise<boolean> {
    const { families } = this.deps;
    const decided = { key: keyed.dedup_key, item };
    const unadopted = keyed.origin === '' && isNew ? item : null;
    if (family === null) {
      try {
        await families.insert({ id, project: keyed.project, rev: 1, newest: item, unadopted, recent: [decided] });
        return true;
      } catch (error) {
        if (error instanceof StoreConflict) return false;
        throw error;
      }
    }
    const set = isNew ? { newest: item, unadopted } : keyed.origin === '' ? {} : { unadopted: null };
    const update = { set, inc: { rev: 1 }, push: { recent: { each: [decided], keep: REMEMBERED } } };
    return (await families.change({ id, rev: family.rev }, update)) !== null;
  }
}

/** Pure: what a family says about an unknown key. `item_id` null asks for a new item. */
export function decideIn(
  family: FamilyDoc,
  keyed: Keyed,
): { item_id: string; done: boolean } | { item_id: null; done: false } {
  const before = family.recent.find((decision) => decision.key === keyed.dedup_key);
  if (before !== undefined) return { item_id: before.item, done: true };
  if (keyed.origin === '') return { item_id: family.newest, done: false };
  return family.unadopted === null ? { item_id: null, done: false } : { item_id: family.unadopted, done: false };
}
