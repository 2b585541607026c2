/**
 * Two versions read each other's documents during an upgrade, so old names stay in storage; only
 * this file spells them.
 */

export const FAST_COUNT_KIND_FIELD = 'lane';

export const UNFILED_CREATION_FIELD = 'made_by';

export const UNFILED_CLAIM_FIELD = 'noted';

export const COARSE_KEYS_FIELD = 'first';
