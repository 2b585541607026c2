/** Every step is repeatable, so after a crash all steps run again (docs/consistency.md, Items). */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { StoreConflict, type Collection, type Doc } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { GroupingKeyResolver } from '../groups/grouping-keys.js';
import { hashWithinProject, toSlotId } from '../item/document-ids.js';
import { unpackOccurrence } from '../item/occurrence-payload.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import { ItemOutbox } from '../store/item-outbox.js';
import { buildElapsedFilter } from '../../../lib/clock-skew.js';
import type { SplitDoc } from '../item/operation-documents.js';
import type { Clock } from '../../../ports/clock.js';
import type { StoredOccurrence } from '../item/occurrence-documents.js';
import type { ItemDoc, TextsDoc, KeyDoc, FamilyDoc, ActivityDoc } from '../item/model.js';

/** Older splits belong to a process that has ended. */
const STALE_SPLIT_MS = 10_000;
const BATCH_SIZE = 20;

@injectable()
export class SplitCompletionService {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.keys) private readonly keyRows: Collection<KeyDoc>,
    @inject(DEPS.families) private readonly families: Collection<FamilyDoc>,
    @inject(DEPS.occurrences) private readonly occurrences: Collection<StoredOccurrence>,
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(DEPS.splits) private readonly splits: Collection<SplitDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(GroupingKeyResolver) private readonly keys: GroupingKeyResolver,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
  ) {}

  /** Discards a split whose item was not written. */
  async complete(split: SplitDoc): Promise<void> {
    const { splits, texts } = this;
    if (await this.#isRecorded(split)) {
      const { id: _, ...made } = split.made_texts;
      await texts.change({ id: split.id }, { setOnInsert: made }, { upsert: true });
      await this.watermark.write(split.id, (updated_at) => insertIfMissing(this.items, { ...split.made, updated_at }));
      await this.#moveKeys(split);
      await this.#moveFamilies(split);
      await this.#moveOccurrences(split);
      if (split.left_texts !== null) await texts.change({ id: split.item_id }, { set: split.left_texts });
      await this.outbox.flushAll(split.id);
    }
    await splits.remove({ id: split.id });
  }

  /**
   * Completes those left by a running or ended process. A split whose item is not written yet stays
   * with its process.
   */
  async completeForItem(item_id: string): Promise<void> {
    const { items } = await this.splits.find({ filter: { item_id }, limit: BATCH_SIZE });
    for (const split of items) if (await this.#isRecorded(split)) await this.complete(split);
  }

  async reconcile(signal?: AbortSignal): Promise<void> {
    const filter = buildElapsedFilter('at', STALE_SPLIT_MS, this.clock.now());
    for (;;) {
      const page = await this.splits.find({ filter, sort: [['at', 'asc']], limit: BATCH_SIZE });
      for (const split of page.items) await this.complete(split);
      if (page.items.length < BATCH_SIZE || signal?.aborted === true) return;
    }
  }

  /** Looks for the entry in the outbox and the history. */
  async #isRecorded({ item_id, entry }: SplitDoc): Promise<boolean> {
    const item = await this.items.get(item_id);
    if (item?.outbox.some(({ id }) => id === entry) === true) return true;
    return (await this.activity.get(entry)) !== null;
  }

  /** Before the division that leads to them. */
  async #moveKeys({ id: item_id, item_id: from, project, keys: whole, parts }: SplitDoc): Promise<void> {
    const keys = this.keyRows;
    for (const key of whole) {
      const filter = { id: hashWithinProject(project, key), or: [{ item_id: from }, { counts_at: from }] };
      await keys.change(filter, { set: { item_id }, unset: ['counts_at', 'came'] });
    }
    for (const { shared, part } of parts) {
      await insertIfMissing(keys, { id: hashWithinProject(project, part.key), project, key: part.key, item_id });
      const id = hashWithinProject(project, shared);
      const lead = await keys.get(id);
      if (lead !== null && lead.divided?.some(({ key }) => key === part.key) !== true)
        await keys.change({ id }, { push: { divided: { each: [part as never] } } });
    }
    this.keys.clearCache();
  }

  /** Would join the item by class and message. */
  async #moveFamilies({ id: made, item_id, project, bare_keys }: SplitDoc): Promise<void> {
    const families = this.families;
    for (const bare of bare_keys) {
      const id = hashWithinProject(project, bare);
      await families.change({ id, newest: item_id }, { set: { newest: made }, inc: { rev: 1 } });
      await families.change({ id, unadopted: item_id }, { set: { unadopted: made }, inc: { rev: 1 } });
    }
  }

  async #moveOccurrences({ id: made, occurrences: moved }: SplitDoc): Promise<void> {
    const { occurrences, texts } = this;
    for (const [slot, { id, occurrence_id }] of moved.entries()) {
      const stored = await occurrences.get(id);
      // Taken by a newer occurrence, or already moved.
      if (stored?.occurrence_id !== occurrence_id) continue;
      const whole = await unpackOccurrence(stored, (item) => texts.get(item));
      await occurrences.bulk([{ put: { ...whole, id: toSlotId(made, slot), item_id: made } }]);
      await occurrences.remove({ id, occurrence_id });
    }
  }
}

async function insertIfMissing<T extends Doc>(collection: Collection<T>, doc: T): Promise<void> {
  try {
    await collection.insert(doc);
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error;
  }
}
