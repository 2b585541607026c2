/**
 * Keys that earlier versions made of a report, under which its group may still be known (decisions 011 and 041). A
 * store that began with these masks has none of them: its mark says so, and no unknown key is computed and looked up
 * twice. Older stores have no mark.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { Collection, Doc } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import { earlierKeysOf, type Grouping, type GroupingInput } from '../grouping/key.js';
import { earlierMasks, type MaskOptions } from '../grouping/mask.js';
import type { CatchUpDoc } from '../item/work-documents.js';

const MARK = 'earlier-masks';

/** At the migration: a store without a key begins with the masks of this version. */
export async function beginWithMasks(catchUps: Collection<CatchUpDoc>, keys: Collection<Doc>): Promise<void> {
  if ((await keys.find({ limit: 1 })).items.length > 0) return;
  const mark = { masks_before: earlierMasks({}).length };
  await catchUps.change({ id: MARK }, { setOnInsert: mark }, { upsert: true });
}

@injectable()
export class EarlierKeys {
  /** Sets of masks under which this store may have keys, newest first; null: the mark is not read yet. */
  #masks: readonly Partial<MaskOptions>[] | null = null;

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'catchUps' | 'grouping'>) {}

  /** None in a store that began with the masks of this version, and where they change nothing. */
  async of(report: GroupingInput, now: Grouping): Promise<readonly string[]> {
    const masks = (this.#masks ??= await this.#read());
    return masks.length === 0 ? [] : earlierKeysOf(report, now, masks);
  }

  /** The newest sets come first, and the store lacks those that were there before it. */
  async #read(): Promise<readonly Partial<MaskOptions>[]> {
    const mark = await this.deps.catchUps.get(MARK);
    const sets = earlierMasks(this.deps.grouping.masks);
    return sets.slice(0, sets.length - (mark?.masks_before ?? 0));
  }
}
