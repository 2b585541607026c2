/**
 * Fields whose stored name is older than their meaning. During an upgrade two versions read each other's documents, and
 * a rename would rewrite every item without any visible gain. So the old names stay on the disk, and only this file
 * spells them.
 */

/** Field of an item: the kind of occurrences that one write counts, without a look at the item (`getItemBlindKind`). */
export const BLIND_KIND = 'lane';

/** Field of an item: who created it, while its history has no entry for this yet. */
export const UNFILED_CREATION = 'made_by';

/** Field of an item: the id and the actor of its claim, while its history has no entry for this yet. */
export const UNFILED_CLAIM = 'noted';

/** Field of a flood: the coarse keys of its first items. */
export const COARSE_KEYS = 'first';
