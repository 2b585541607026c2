/**
 * The flood rule (contract 21, flood): how many items a source made within the hour, and which item has a coarse key.
 *
 * The coarse keys of a source's first items are stored beside the times that it counts. Most sources make few items,
 * and a document for each would be written for a flood that never comes. Such an entry is checked when it is used: its
 * item may have been deleted or merged meanwhile. The coarse keys of later items are documents of `keys`, as all coarse
 * keys once were.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { HOUR_MS } from '../../../lib/time.js';
import type { Filter, Update } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import type { FloodDoc } from '../item/model.js';
import { COARSE_KEYS } from '../item/stored-names.js';
import { computeFloodKey, type Flood, type Grouping, type GroupingInput } from '../grouping/key.js';

/** Items of a source whose coarse keys are stored beside its times. */
const FIRST = 25;

/** Facts about the source of a report that may make a new item. */
export interface Source extends Flood {
  project: string;
  /** Null: not read, since no item has the report's coarse key. */
  stored: Pick<FloodDoc, 'made_at' | typeof COARSE_KEYS> | null;
}

@injectable()
export class Floods {
  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'floods' | 'items' | 'clock' | 'grouping'>) {}

  /** The source of a report; null where the rule is off or does not apply to the report. */
  async sourceOf(report: GroupingInput, project: string, grouping: Grouping): Promise<Source | null> {
    // Only errors flood: people who file a bug or a wish say themselves what it is.
    if (this.deps.grouping.flood_items === 0 || report.type !== 'error') return null;
    const flood = computeFloodKey(report, grouping);
    if (flood === null) return null;
    const stored =
      flood.coarse_key === null ? null : await this.deps.floods.get(hashWithinProject(project, flood.source));
    return { ...flood, project, stored };
  }

  /** Whether enough items were made within the hour for a coarse key to decide. */
  isFlooded({ stored }: Source): boolean {
    const first = stored?.made_at.at(-this.deps.grouping.flood_items);
    return first !== undefined && this.deps.clock.now() - Date.parse(first) <= HOUR_MS;
  }

  /** The dedup key of the first item with the coarse key, if it is among the first of its source. */
  async keyOfFirst({ coarse_key, stored }: Source): Promise<string | null> {
    for (const { key, item } of stored?.[COARSE_KEYS] ?? []) {
      const first = key === coarse_key ? await this.deps.items.get(item) : null;
      if (first !== null) return first.dedup_key;
    }
    return null;
  }

  /** The coarse key that needs a document of its own for a new item. */
  ownKey({ coarse_key, stored }: Source): string | null {
    return (stored?.[COARSE_KEYS]?.length ?? 0) < FIRST ? null : coarse_key;
  }

  /** Counts a new item, and remembers its coarse key; an upsert. */
  counting(source: Source, item: string): { change: Filter; update: Update } {
    const { clock, grouping } = this.deps;
    const made_at = { each: [clock.iso()], keep: grouping.flood_items };
    const { coarse_key: key } = source;
    // No `keep`: items made at the same time exceed `FIRST` by a few, and none may be lost.
    const isFirst = key !== null && this.ownKey(source) === null;
    const push = { made_at, ...(isFirst && { [COARSE_KEYS]: { each: [{ key, item }] } }) };
    return { change: { id: hashWithinProject(source.project, source.source) }, update: { push } };
  }
}
