/**
 * Fields whose stored name is older than what they mean. During an upgrade two versions read each other's documents,
 * and a rename would rewrite every item for nothing that anybody sees. So the old names stay on the disk, and this file
 * alone spells them.
 */

/** Of an item: the kind of occurrences that are counted in one write, without a look at the item (`blindKindOf`). */
export const BLIND_KIND = 'lane';

/** Of an item: who created it, while that is not in its history yet. */
export const UNFILED_CREATION = 'made_by';

/** Of an item: the id and the actor of its claim, while that is not in its history yet. */
export const UNFILED_CLAIM = 'noted';

/** Of a flood: the coarse keys of its first items. */
export const COARSE_KEYS = 'first';
