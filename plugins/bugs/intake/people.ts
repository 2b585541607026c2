/**
 * The people that an item's reports name, as a sketch in the item (contract 21, people affected). The sketch changes
 * seldom, so the write of a count touches it only when it does: this process knows what the last answer of the item
 * held, and a sketch only ever grows, so who is in the known one is in the stored one too.
 *
 * What changes it rides in the write of the count, on the condition that the stored sketch is still the known one.
 * Where another process was faster, or the sketch is not known here, the count goes first, as it would without people,
 * and the sketch follows on the answered item before the report is acknowledged.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { addPrints, type Print } from '../../../lib/text/distinct-sketch.js';
import type { Filter, Update } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { isSame, toPeopleFields, getSketches, buildSketchFilter, type Sketches } from '../store/people.js';

/** Items whose sketch this process has in memory. */
const KNOWN = 5_000;
const ATTEMPTS = 100;

/** What a write adds: it holds only while the stored sketch is the one that it was made from. */
export interface JoiningPeople {
  filter: Filter;
  set: NonNullable<Update['set']>;
}

@injectable()
export class People {
  readonly #known = new BoundedMap<Sketches>({ most: KNOWN });

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'items'>) {}

  /** What the count of these people adds to the write; null: nothing, or the item's sketch is not known here. */
  joining(itemId: string, prints: readonly Print[]): JoiningPeople | null {
    if (prints.length === 0) return null;
    const known = this.#known.get(itemId);
    return known === undefined ? null : findJoiningPeople(known, prints);
  }

  /** Remembers the sketch of an item as it was answered. */
  counted(doc: ItemDoc): void {
    const known = this.#known.get(doc.id);
    const now = getSketches(doc);
    if (known === undefined || !isSame(known, now)) this.#known.set(doc.id, now);
  }

  /**
   * Adds who is missing in an item that has counted them, and answers it; an item that is gone stays as it was. No
   * promise where nobody is missing.
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

/** The write of a count together with its people. */
export const addPeopleToCount = (count: Update, joining: JoiningPeople | null): Update =>
  joining === null ? count : { ...count, set: { ...count.set, ...joining.set } };

/** Null: the item's own sketch holds all of them. */
export function findJoiningPeople(sketches: Sketches, prints: readonly Print[]): JoiningPeople | null {
  const own = addPrints(sketches.own, prints);
  if (own === sketches.own) return null;
  return { filter: buildSketchFilter(sketches), set: { ...toPeopleFields({ ...sketches, own }) } };
}
