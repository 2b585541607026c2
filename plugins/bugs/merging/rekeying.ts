/**
 * Decides where occurrences of an item's keys are counted (contract 20, merge and split): at the
 * item, or at the end of its chain of duplicates. A key names its owner and, in `counts_at`, the
 * counting item, so a split restores exactly what a merge took.
 *
 * Order: a `moves` document (marker) → the item's change → its keys and those of its duplicates →
 * affected users → history of the other item and news for its holder → the marker is deleted. After
 * a crash the job `bugs.reconcile` completes the rest; until then a merged item forwards reports.
 *
 * The stored items decide where a key leads, verified after the write: of two concurrent moves, the
 * last writer sees both. Rejected: moving keys permanently, because a split could not restore them.
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

/** Older moves belong to a process that has ended. */
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
   * Stores the marker before the item is written.
   * @param into the item that counts from now on; null: the item itself
   */
  async begin({ item, actor, at, entries }: ChangeSet, into: string | null): Promise<MoveDoc> {
    const other = into ?? item.duplicate_of;
    const entry = entries[0]?.id ?? null;
    const move: MoveDoc = { id: this.deps.ids.uuid(), item_id: item.id, ref: item.ref, into, other, entry, actor, at };
    await this.deps.moves.insert(move);
    return move;
  }

  /**
   * Runs after the item's write, even a failed one: only the stored items decide where the keys
   * lead.
   * @param moves moves of one item
   */
  async finish(moves: readonly MoveDoc[]): Promise<void> {
    const [first] = moves;
    if (first === undefined) return;
    for (const id of await findDuplicateTree(this.deps.items, first.item_id)) await this.#place(id);
    await this.people.count([first.item_id, ...moves.flatMap(({ other }) => other ?? [])]);
    for (const move of moves) await this.#writeHistory(move);
    await this.deps.moves.remove({ id: { in: moves.map(({ id }) => id) } });
  }

  async unfinished(itemId: string): Promise<MoveDoc[]> {
    return (await this.deps.moves.find({ filter: { item_id: itemId }, limit: BATCH_SIZE })).items;
  }

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

  async #end(itemId: string): Promise<string> {
    return (await findDuplicateChain(this.deps.items, itemId)).at(-1) ?? itemId;
  }

  /**
   * Adds the entry to the other item's history, provided that the item's own history has the
   * change. The entry has the move's id, so a repeat adds nothing.
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

  async #tellHolder(itemId: string, actor: string, entry: string): Promise<void> {
    const other = await this.deps.items.get(itemId);
    if (other === null || !isLive(other.claim, this.deps.clock.now())) return;
    try {
      await this.items.change(itemId, actor, (_, change) => change.news({ id: entry, kind: 'activity' }));
    } catch (error) {
      // It was deleted meanwhile, so it has no holder.
      if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
    }
  }

  async #happened(itemId: string, entry: string | null): Promise<boolean> {
    if (entry === null) return false;
    const item = await this.deps.items.get(itemId);
    if (item?.outbox.some(({ id }) => id === entry) === true) return true;
    return (await this.deps.activity.get(entry)) !== null;
  }
}
