/**
 * Stored field names that differ from their current meaning. During an upgrade two versions read
 * each other's documents, so the old names stay in storage and only this file spells them.
 */

/** Item field: kind of occurrences that are counted without reading the item. */
export const FAST_COUNT_KIND_FIELD = 'lane';

/** Item field: creator, until the history has an entry for the creation. */
export const UNFILED_CREATION_FIELD = 'made_by';

/** Item field: id and actor of the claim, until the history has an entry for it. */
export const UNFILED_CLAIM_FIELD = 'noted';

export const COARSE_KEYS_FIELD = 'first';
