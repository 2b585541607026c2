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
import { inject, injectable } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { DEPS } from '../deps.js';
import type { ChangeSet } from '../item/change-set.js';
import { GroupingKeyResolver } from '../groups/grouping-keys.js';
import { isLeaseLive } from '../item/api-views.js';
import type { RekeyingDoc } from '../item/operation-documents.js';
import { ItemService } from '../store/item-service.js';
import { findDuplicateChain, findDuplicateTree } from './duplicate-chain.js';
import { buildElapsedFilter } from '../../../lib/clock-skew.js';
import { MergedPeopleCounter } from './merged-people.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';
import type { ItemDoc, KeyDoc, ActivityDoc } from '../item/model.js';
import type { Collection } from '../../../ports/store/index.js';

const STALE_MOVE_MS = 10_000;
const BATCH_SIZE = 100;

@injectable()
export class RekeyingService {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.keys) private readonly keyRows: Collection<KeyDoc>,
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(DEPS.moves) private readonly moves: Collection<RekeyingDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(GroupingKeyResolver) private readonly keys: GroupingKeyResolver,
    @inject(MergedPeopleCounter) private readonly people: MergedPeopleCounter,
    @inject(ItemService) private readonly items: ItemService,
  ) {}

  /**
   * Runs before the item is written.
   * @param into the item that counts from now on; null: the item itself
   */
  async beginMove({ item, actor, at, entries }: ChangeSet, into: string | null): Promise<RekeyingDoc> {
    const other = into ?? item.duplicate_of;
    const entry = entries[0]?.id ?? null;
    const move: RekeyingDoc = {
      id: this.ids.uuid(),
      item_id: item.id,
      ref: item.ref,
      into,
      other,
      entry,
      actor,
      at,
    };
    await this.moves.insert(move);
    return move;
  }

  /**
   * Runs even after a failed write: only the stored items decide where the keys lead.
   * @param moves of one item
   */
  async completeMoves(moves: readonly RekeyingDoc[]): Promise<void> {
    const [first] = moves;
    if (first === undefined) return;
    for (const id of await findDuplicateTree(this.itemRows, first.item_id)) await this.#assignKeys(id);
    await this.people.recount([first.item_id, ...moves.flatMap(({ other }) => other ?? [])]);
    for (const move of moves) await this.#writeHistory(move);
    await this.moves.remove({ id: { in: moves.map(({ id }) => id) } });
  }

  async listUnfinished(itemId: string): Promise<RekeyingDoc[]> {
    return (await this.moves.find({ filter: { item_id: itemId }, limit: BATCH_SIZE })).items;
  }

  async reconcile(signal?: AbortSignal): Promise<void> {
    const filter = buildElapsedFilter('at', STALE_MOVE_MS, this.clock.now());
    for (;;) {
      const page = await this.moves.find({ filter, sort: [['at', 'asc']], limit: BATCH_SIZE });
      for (const move of page.items) await this.completeMoves([move]);
      if (page.items.length < BATCH_SIZE || signal?.aborted === true) return;
    }
  }

  async #assignKeys(itemId: string): Promise<void> {
    const keys = this.keyRows;
    for (;;) {
      const end = await this.#findCountingItem(itemId);
      if (end === itemId) {
        await keys.changeMany({ item_id: itemId, counts_at: { exists: true } }, { unset: ['counts_at'] });
      } else {
        await keys.changeMany({ item_id: itemId, counts_at: { ne: end } }, { set: { counts_at: end } });
      }
      this.keys.clearCache();
      if ((await this.#findCountingItem(itemId)) === end) return;
    }
  }

  async #findCountingItem(itemId: string): Promise<string> {
    return (await findDuplicateChain(this.itemRows, itemId)).at(-1) ?? itemId;
  }

  /**
   * Only if the item's own history has the change; the entry has the move's id, so a repeat adds
   * nothing.
   */
  async #writeHistory({ id, item_id, ref, into, other, entry, actor, at }: RekeyingDoc): Promise<void> {
    if (other === null || !(await this.#isRecorded(item_id, entry))) return;
    const mirrored = {
      id,
      item_id: other,
      at,
      action: into === null ? 'split' : 'merged',
      actor,
      data: { item_id, ref },
    };
    await this.activity.bulk([{ insert: mirrored }]);
    await this.#notifyHolder(other, actor, id);
  }

  async #notifyHolder(itemId: string, actor: string, entry: string): Promise<void> {
    const other = await this.itemRows.get(itemId);
    if (other === null || !isLeaseLive(other.claim, this.clock.now())) return;
    try {
      await this.items.change(itemId, actor, (_, change) => change.addUnreadEntry({ id: entry, kind: 'activity' }));
    } catch (error) {
      // A deleted item has no holder.
      if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
    }
  }

  async #isRecorded(itemId: string, entry: string | null): Promise<boolean> {
    if (entry === null) return false;
    const item = await this.itemRows.get(itemId);
    if (item?.outbox.some(({ id }) => id === entry) === true) return true;
    return (await this.activity.get(entry)) !== null;
  }
}
