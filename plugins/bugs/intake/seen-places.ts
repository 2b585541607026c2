/**
 * Notes in an item that it was seen in a version or on a host for the first time, before the report is acknowledged.
 * The count answers the item, so a known place costs a look at it and nothing else.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { SECOND_MS } from '../../../lib/time.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { addedMarks } from '../item/place-marks.js';
import type { IncomingReport } from './incoming-report.js';

/** Counts that were under way at the first one's write answer an item that lacks it still. */
const UNDER_WAY = { most: 10_000, ttlMs: 10 * SECOND_MS };

@injectable()
export class SeenPlaces {
  readonly #adding = new BoundedMap<Promise<unknown>>(UNDER_WAY);

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'items'>) {}

  isDue(doc: ItemDoc, { report }: IncomingReport): boolean {
    return addedMarks(doc, report) !== null;
  }

  async note(doc: ItemDoc, { report }: IncomingReport): Promise<void> {
    const push = addedMarks(doc, report);
    if (push === null) return;
    const key = `${doc.id} ${JSON.stringify(push)}`;
    const others = this.#adding.get(key);
    if (others !== undefined) {
      await others;
      return;
    }
    const adding = this.deps.items.change({ id: doc.id }, { push });
    this.#adding.set(key, adding);
    try {
      await adding;
    } catch (error) {
      this.#adding.delete(key);
      throw error;
    }
  }
}
