import { createHmac } from 'node:crypto';
import { estimateDistinct, mergeSketches, toSketchHash, type SketchHash } from '../../../lib/text/distinct-sketch.js';
import type { Filter } from '../../../ports/store/index.js';
import type { ItemDoc } from '../item/model.js';

/** Of the item's own reports and its duplicates; null: none. */
export interface PeopleSketches {
  own: string | null;
  merged: string | null;
}

export const getSketches = ({
  people_sketch,
  people_merged,
}: Pick<ItemDoc, 'people_sketch' | 'people_merged'>): PeopleSketches => ({
  own: people_sketch ?? null,
  merged: people_merged ?? null,
});

export const hasEqualSketches = (a: PeopleSketches, b: PeopleSketches): boolean =>
  a.own === b.own && a.merged === b.merged;

export function toPeopleFields({
  own,
  merged,
}: PeopleSketches): Pick<ItemDoc, 'people' | 'people_sketch' | 'people_merged'> {
  const all = mergeSketches(own, merged);
  return {
    ...(all !== null && { people: estimateDistinct(all) }),
    ...(own !== null && { people_sketch: own }),
    ...(merged !== null && { people_merged: merged }),
  };
}

export const buildSketchFilter = ({ own, merged }: PeopleSketches): Filter => ({
  people_sketch: own,
  people_merged: merged,
});

/** Only 30 bits of a keyed hash are stored, different for each project. */
export class PersonHasher {
  constructor(private readonly key: Buffer) {}

  toFingerprint(project: string, user: string): SketchHash {
    return toSketchHash(createHmac('sha256', this.key).update(`${project}\u001f${user}`).digest());
  }
}
