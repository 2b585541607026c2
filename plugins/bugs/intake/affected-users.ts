/**
 * Estimates the people affected (contract 21, people affected). The cached sketch only grows, so
 * only new users cause a write, which requires that the stored sketch equals the cached one.
 * Otherwise the sketch is updated after the count, before the report is acknowledged.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { conflict } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { addHashes, type SketchHash } from '../../../lib/text/distinct-sketch.js';
import type { Filter, Update, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import {
  hasEqualSketches,
  toPeopleFields,
  getSketches,
  buildSketchFilter,
  type PeopleSketches,
} from '../store/people-sketches.js';

const MAX_CACHED_SKETCHES = 5_000;
const MAX_ATTEMPTS = 100;

export interface UserSketchUpdate {
  filter: Filter;
  set: NonNullable<Update['set']>;
}

@injectable()
export class AffectedUserCounter {
  readonly #known = new BoundedMap<PeopleSketches>({ most: MAX_CACHED_SKETCHES });

  constructor(@inject(DEPS.items) private readonly items: Collection<ItemDoc>) {}

  /** Returns null if nothing changes or it is not cached. */
  buildUpdate(itemId: string, prints: readonly SketchHash[]): UserSketchUpdate | null {
    if (prints.length === 0) return null;
    const known = this.#known.get(itemId);
    return known === undefined ? null : buildUserSketchUpdate(known, prints);
  }

  cacheSketch(doc: ItemDoc): void {
    const known = this.#known.get(doc.id);
    const now = getSketches(doc);
    if (known === undefined || !hasEqualSketches(known, now)) this.#known.set(doc.id, now);
  }

  /** Returns no promise if no one is missing. */
  addMissing(counted: ItemDoc, prints: readonly SketchHash[]): ItemDoc | Promise<ItemDoc> {
    if (buildUserSketchUpdate(getSketches(counted), prints) !== null) return this.#writeMissing(counted, prints);
    this.cacheSketch(counted);
    return counted;
  }

  async #writeMissing(counted: ItemDoc, prints: readonly SketchHash[]): Promise<ItemDoc> {
    let doc = counted;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const joining = buildUserSketchUpdate(getSketches(doc), prints);
      if (joining === null) {
        this.cacheSketch(doc);
        return doc;
      }
      const changed = await this.items.change({ id: doc.id, ...joining.filter }, { set: joining.set });
      const stored = changed?.doc ?? (await this.items.get(doc.id));
      if (stored === null) return doc;
      doc = stored;
    }
    throw conflict('Too many concurrent changes of the item; send the report again.');
  }
}

export const addUsersToCount = (count: Update, joining: UserSketchUpdate | null): Update =>
  joining === null ? count : { ...count, set: { ...count.set, ...joining.set } };

/** Returns null if the item's sketch contains all of them. */
export function buildUserSketchUpdate(
  sketches: PeopleSketches,
  prints: readonly SketchHash[],
): UserSketchUpdate | null {
  const own = addHashes(sketches.own, prints);
  if (own === sketches.own) return null;
  return { filter: buildSketchFilter(sketches), set: { ...toPeopleFields({ ...sketches, own }) } };
}
