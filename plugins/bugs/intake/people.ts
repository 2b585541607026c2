/**
 * Counts the people affected by an item, as a sketch in the item (contract 21, people affected).
 * This process caches the last returned sketch, which only grows, so a count writes it only for new
 * users, and only if the stored sketch equals the cached one. Otherwise the sketch is updated after
 * the count, before the report is acknowledged.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { addPrints, type Print } from '../../../lib/text/distinct-sketch.js';
import type { Filter, Update } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { isSame, toPeopleFields, getSketches, buildSketchFilter, type Sketches } from '../store/people.js';

const KNOWN = 5_000;
const ATTEMPTS = 100;

/** Addition to a write, valid only while the stored sketch is the one that it was built from. */
export interface JoiningPeople {
  filter: Filter;
  set: NonNullable<Update['set']>;
}

@injectable()
export class People {
  readonly #known = new BoundedMap<Sketches>({ most: KNOWN });

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'items'>) {}

  /** Returns the sketch update of a count; null if nothing changes or the sketch is not cached. */
  joining(itemId: string, prints: readonly Print[]): JoiningPeople | null {
    if (prints.length === 0) return null;
    const known = this.#known.get(itemId);
    return known === undefined ? null : findJoiningPeople(known, prints);
  }

  counted(doc: ItemDoc): void {
    const known = this.#known.get(doc.id);
    const now = getSketches(doc);
    if (known === undefined || !isSame(known, now)) this.#known.set(doc.id, now);
  }

  /**
   * Adds missing users to an item that has counted them. Returns no promise if no one is missing.
   */
  settled(counted: ItemDoc, prints: readonly Print[]): ItemDoc | Promise<ItemDoc> {
    if (findJoiningPeople(getSketches(counted), prints) !== null) return this.#joined(counted, prints);
    this.counted(counted);
    return counted;
  }

  async #joined(counted: ItemDoc, prints: readonly Print[]): Promise<ItemDoc> {
    let doc = counted;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const joining = findJoiningPeople(getSketches(doc), prints);
      if (joining === null) {
        this.counted(doc);
        return doc;
      }
      const changed = await this.deps.items.change({ id: doc.id, ...joining.filter }, { set: joining.set });
      const stored = changed?.doc ?? (await this.deps.items.get(doc.id));
      if (stored === null) return doc;
      doc = stored;
    }
    throw conflict('The item changes too often at the moment; send the report again.');
  }
}

export const addPeopleToCount = (count: Update, joining: JoiningPeople | null): Update =>
  joining === null ? count : { ...count, set: { ...count.set, ...joining.set } };

/** Returns null if the item's sketch contains all of them. */
export function findJoiningPeople(sketches: Sketches, prints: readonly Print[]): JoiningPeople | null {
  const own = addPrints(sketches.own, prints);
  if (own === sketches.own) return null;
  return { filter: buildSketchFilter(sketches), set: { ...toPeopleFields({ ...sketches, own }) } };
}
