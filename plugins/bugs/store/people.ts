import { createHmac } from 'node:crypto';
import { estimateDistinct, mergeSketches, toPrint, type Print } from '../../../lib/text/distinct-sketch.js';
import type { Filter } from '../../../ports/store.js';
import type { ItemDoc } from '../item/model.js';

/** Users of the item's own reports and of its duplicates; null: none. */
export interface Sketches {
  own: string | null;
  merged: string | null;
}

export const getSketches = ({
  people_sketch,
  people_merged,
}: Pick<ItemDoc, 'people_sketch' | 'people_merged'>): Sketches => ({
  own: people_sketch ?? null,
  merged: people_merged ?? null,
});

export const isSame = (a: Sketches, b: Sketches): boolean => a.own === b.own && a.merged === b.merged;

export function toPeopleFields({ own, merged }: Sketches): Pick<ItemDoc, 'people' | 'people_sketch' | 'people_merged'> {
  const all = mergeSketches(own, merged);
  return {
    ...(all !== null && { people: estimateDistinct(all) }),
    ...(own !== null && { people_sketch: own }),
    ...(merged !== null && { people_merged: merged }),
  };
}

export const buildSketchFilter = ({ own, merged }: Sketches): Filter => ({ people_sketch: own, people_merged: merged });

/**
 * Hashes user identifiers. Only 30 bits of a keyed hash are stored, which differ between projects.
 */
export class Persons {
  constructor(private readonly key: Buffer) {}

  printOf(project: string, user: string): Print {
    return toPrint(createHmac('sha256', this.key).update(`${project}\u001f${user}`).digest());
  }
}
