import { inject, injectable } from '../../../kernel/contract/index.js';
import { DEPS, type BugDeps } from '../deps.js';
import { computeGrouping, type Grouping } from '../grouping/grouping-key.js';
import { listSlotIds } from '../item/document-ids.js';
import type { ItemDoc, KeyDoc, TextsDoc } from '../item/model.js';
import type { OccurrenceDoc, StoredOccurrence } from '../item/occurrence-documents.js';
import { unpackOccurrence } from '../item/occurrence-payload.js';
import type { GroupingSettings } from '../grouping/grouping-settings.js';
import type { Collection } from '../../../ports/store/index.js';

const BATCH_SIZE = 10;
export const MAX_SPLIT_KEYS = 500;

export interface GroupedOccurrence {
  doc: OccurrenceDoc;
  key: string;
  /** Null when the stored data does not reproduce the report's key. */
  bare: string | null;
  grouping: Grouping;
}

export interface GroupedParts {
  keys: KeyDoc[];
  /** False above `MAX_SPLIT_KEYS`. */
  whole: boolean;
  occurrences: GroupedOccurrence[];
}

/** Coarse keys (contract 21, flood) do not group by themselves. */
const isGrouping = ({ key }: KeyDoc): boolean => key.startsWith('v2:');

@injectable()
export class GroupedPartsReader {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.keys) private readonly keys: Collection<KeyDoc>,
    @inject(DEPS.occurrences) private readonly occurrences: Collection<StoredOccurrence>,
    @inject(DEPS.grouping) private readonly grouping: GroupingSettings,
  ) {}

  async read(item: ItemDoc): Promise<GroupedParts> {
    const { keys, texts } = this;
    const [own, merged, docs] = await Promise.all([
      keys.find({ filter: { item_id: item.id }, limit: MAX_SPLIT_KEYS + 1 }),
      this.#listMergedKeys(item.id),
      this.#loadPayloads(item.id),
    ]);
    const leading = [...own.items.filter(({ counts_at }) => counts_at === undefined), ...merged].filter(isGrouping);
    const known = new Set(leading.map(({ key }) => key));
    const whole = await Promise.all(docs.map((doc) => unpackOccurrence(doc, (id) => texts.get(id))));
    return {
      keys: leading,
      whole: leading.length <= MAX_SPLIT_KEYS,
      occurrences: whole
        .map((doc) => this.#toGroupedOccurrence(item, doc, known))
        .toSorted((a, b) => (a.doc.received_at < b.doc.received_at ? -1 : 1)),
    };
  }

  async #listMergedKeys(id: string): Promise<KeyDoc[]> {
    const duplicates = await this.items.find({ filter: { duplicate_of: id }, limit: MAX_SPLIT_KEYS });
    if (duplicates.items.length === 0) return [];
    const filter = { item_id: { in: duplicates.items.map((item) => item.id) }, counts_at: id };
    return (await this.keys.find({ filter, limit: MAX_SPLIT_KEYS })).items;
  }

  async #loadPayloads(id: string): Promise<Awaited<ReturnType<BugDeps['occurrences']['find']>>['items'][number][]> {
    const slots = listSlotIds(id);
    const found = [];
    for (let from = 0; from < slots.length; from += BATCH_SIZE)
      found.push(
        ...(
          await this.occurrences.find({
            filter: { id: { in: slots.slice(from, from + BATCH_SIZE) } },
            limit: BATCH_SIZE,
          })
        ).items,
      );
    return found;
  }

  /** Missing keys are computed, or assumed to be the first. */
  #toGroupedOccurrence(
    { type, project, title, dedup_key }: ItemDoc,
    doc: OccurrenceDoc,
    known: ReadonlySet<string>,
  ): GroupedOccurrence {
    const grouping = computeGrouping({ ...doc, type, project, title }, this.grouping.masks);
    const computed = known.has(grouping.dedup_key) ? grouping.dedup_key : dedup_key;
    const key = doc.dedup_key ?? computed;
    return { doc, key, bare: key === grouping.dedup_key ? grouping.bare_key : null, grouping };
  }
}
