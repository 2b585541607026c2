/**
 * Counts the items that a source created within the hour, and finds the item of a coarse key
 * (contract 21, flood). The first keys are stored with the source, later ones in `keys`. Entries
 * are validated on use, because an item may be deleted or merged.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { HOUR_MS } from '../../../lib/time.js';
import type { Filter, Update, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import type { FloodDoc, ItemDoc } from '../item/model.js';
import { COARSE_KEYS_FIELD } from '../item/stored-field-names.js';
import {
  computeFloodKey,
  type FloodGroupingKeys,
  type Grouping,
  type GroupingInput,
} from '../grouping/grouping-key.js';
import type { GroupingSettings } from '../grouping/grouping-settings.js';
import type { Clock } from '../../../ports/clock.js';

const MAX_INLINE_KEYS = 25;

export interface FloodSource extends FloodGroupingKeys {
  project: string;
  /** Null if no item has the report's coarse key. */
  stored: Pick<FloodDoc, 'made_at' | typeof COARSE_KEYS_FIELD> | null;
}

@injectable()
export class FloodDetector {
  constructor(
    @inject(DEPS.floods) private readonly floods: Collection<FloodDoc>,
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.grouping) private readonly grouping: GroupingSettings,
  ) {}

  async findSource(report: GroupingInput, project: string, grouping: Grouping): Promise<FloodSource | null> {
    // Users decide the type of bugs and feature requests themselves.
    if (this.grouping.flood_items === 0 || report.type !== 'error') return null;
    const flood = computeFloodKey(report, grouping);
    if (flood === null) return null;
    const stored = flood.coarse_key === null ? null : await this.floods.get(hashWithinProject(project, flood.source));
    return { ...flood, project, stored };
  }

  isFlooded({ stored }: FloodSource): boolean {
    const first = stored?.made_at.at(-this.grouping.flood_items);
    return first !== undefined && this.clock.now() - Date.parse(first) <= HOUR_MS;
  }

  /** Returns the first item with the coarse key, if stored with its source. */
  async findFirstKey({ coarse_key, stored }: FloodSource): Promise<string | null> {
    for (const { key, item } of stored?.[COARSE_KEYS_FIELD] ?? []) {
      const first = key === coarse_key ? await this.items.get(item) : null;
      if (first !== null) return first.dedup_key;
    }
    return null;
  }

  getSeparateKey({ coarse_key, stored }: FloodSource): string | null {
    return (stored?.[COARSE_KEYS_FIELD]?.length ?? 0) < MAX_INLINE_KEYS ? null : coarse_key;
  }

  buildCountWrite(source: FloodSource, item: string): { change: Filter; update: Update } {
    const { clock, grouping } = this;
    const made_at = { each: [clock.iso()], keep: grouping.flood_items };
    const { coarse_key: key } = source;
    // Concurrent creations may exceed the maximum slightly, but none is lost.
    const isFirst = key !== null && this.getSeparateKey(source) === null;
    const push = { made_at, ...(isFirst && { [COARSE_KEYS_FIELD]: { each: [{ key, item }] } }) };
    return { change: { id: hashWithinProject(source.project, source.source) }, update: { push } };
  }
}
