/**
 * Decides where the occurrences of an item's grouping keys are counted (contract 20, merge and split): at the item
 * itself, or, while it is a duplicate, at the end of its chain of duplicates. A key always names the item that it
 * belongs to, and beside it (`counts_at`) the item that counts for it; so a split gives back exactly what a merge took,
 * through chains too.
 *
 * Order: a `moves` document (marker) → the item becomes, or stops being, a duplicate → its keys and those of its own
 * duplicates → the people of the items concerned → history of the other item, of which its holder is told → the marker
 * goes. After a crash the job `bugs.reconcile` finishes the rest. Until then a merged item forwards the reports that
 * still reach it, so nothing is ever counted at a duplicate.
 *
 * The stored items decide where a key leads, not the caller's wish, and the result is checked again after the write: of
 * two simultaneous moves, the last writer sees both.
 *
 * Rejected: moving the keys to the other item for good (a split would not know which to give back), and a transaction
 * of several documents (the store has none).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ChangeSet } from '../item/change-set.js';
import { Keys } from '../groups/keys.js';
import { isLive } from '../item/view.js';
import type { MoveDoc } from '../item/work-documents.js';
import { Items } from '../store/items.js';
import { findDuplicateChain, findDuplicateTree } from './chain.js';
import { elapsed } from '../../../lib/clock-skew.js';
import { MergedPeople } from './merged-people.js';

/** An older move belongs to a process that is gone. */
const LEFTOVER_MS = 10_000;
const BATCH_SIZE = 100;

@injectable()
export class Rekeying {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Keys) private readonly keys: Keys,
    @inject(MergedPeople) private readonly people: MergedPeople,
    @inject(Items) private readonly items: Items,
  ) {}

  /**
   * Stores the marker, before the item is written.
   * @param into the item that counts from now on; null: the item itself again
   */
  async begin({ item, actor, at, entries }: ChangeSet, into: string | null): Promise<MoveDoc> {
    const other = into ?? item.duplicate_of;
    const entry = entries[0]?.id ?? null;
    const move: MoveDoc = { id: this.deps.ids.uuid(), item_id: item.id, ref: item.ref, into, other, entry, actor, at };
    await this.deps.moves.insert(move);
    return move;
  }

  /**
   * Runs after the item's write, even if that failed: the stored items alone decide where the keys lead.
   * @param moves of one item
   */
  async finish(moves: readonly MoveDoc[]): Promise<void> {
    const [first] = moves;
    if (first === undefined) return;
    for (const id of await findDuplicateTree(this.deps.items, first.item_id)) await this.#place(id);
    await this.people.count([first.item_id, ...moves.flatMap(({ other }) => other ?? [])]);
    for (const move of moves) await this.#writeHistory(move);
    await this.deps.moves.remove({ id: { in: moves.map(({ id }) => id) } });
  }

  /** Unfinished moves of one item. */
  async unfinished(itemId: string): Promise<MoveDoc[]> {
    return (await this.deps.moves.find({ filter: { item_id: itemId }, limit: BATCH_SIZE })).items;
  }

  /** Finishes moves that a crash left. */
  async reconcile(signal?: AbortSignal): Promise<void> {
    const filter = elapsed('at', LEFTOVER_MS, this.deps.clock.now());
    for (;;) {
      const page = await this.deps.moves.find({ filter, sort: [['at', 'asc']], limit: BATCH_SIZE });
      for (const move of page.items) await this.finish([move]);
      if (page.items.length < BATCH_SIZE || signal?.aborted === true) return;
    }
  }

  async #place(itemId: string): Promise<void> {
    const { keys } = this.deps;
    for (;;) {
      const end = await this.#end(itemId);
      if (end === itemId) {
        await keys.changeMany({ item_id: itemId, counts_at: { exists: true } }, { unset: ['counts_at'] });
      } else {
        await keys.changeMany({ item_id: itemId, counts_at: { ne: end } }, { set: { counts_at: end } });
      }
      this.keys.forget();
      if ((await this.#end(itemId)) === end) return;
    }
  }

  /** The item that counts for this one. */
  async #end(itemId: string): Promise<string> {
    return (await findDuplicateChain(this.deps.items, itemId)).at(-1) ?? itemId;
  }

  /**
   * The other item's history names the item that joined or left it, but only if the item's own history has the change:
   * a failed attempt leaves no entry. The entry's id is the move's, so a repeat adds nothing.
   */
  async #writeHistory({ id, item_id, ref, into, other, entry, actor, at }: MoveDoc): Promise<void> {
    if (other === null || !(await this.#happened(item_id, entry))) return;
    const mirrored = {
      id,
      item_id: other,
      at,
      action: into === null ? 'split' : 'merged',
      actor,
      data: { item_id, ref },
    };
    await this.deps.activity.bulk([{ insert: mirrored }]);
    await this.#tellHolder(other, actor, id);
  }

  /** Who works on the other item learns of it (contract 20, leases: `news`). */
  async #tellHolder(itemId: string, actor: string, entry: string): Promise<void> {
    const other = await this.deps.items.get(itemId);
    if (other === null || !isLive(other.claim, this.deps.clock.now())) return;
    try {
      await this.items.change(itemId, actor, (_, change) => change.news({ id: entry, kind: 'activity' }));
    } catch (error) {
      // It was deleted meanwhile, and nobody works on it.
      if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
    }
  }

  /** Whether the entry exists: first in the item's outbox, then in the history. */
  async #happened(itemId: string, entry: string | null): Promise<boolean> {
    if (entry === null) return false;
    const item = await this.deps.items.get(itemId);
    if (item?.outbox.some(({ id }) => id === entry) === true) return true;
    return (await this.deps.activity.get(entry)) !== null;
  }
}
