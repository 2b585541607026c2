/** Ids of documents that follow from what they are about, so that a second one of the same cannot be stored. Pure. */
import { hash } from 'node:crypto';
import { KEPT } from './sampling.js';

/** Unique per project. A hash and no concatenation: two projects could share one. */
export const hashOf = (project: string, text: string): string => hash('sha256', `${project}\u001f${text}`).slice(0, 40);

/** Of the occurrence in a slot of its item (sampling.ts). */
export const slotId = (itemId: string, slot: number): string => `${itemId}:${slot}`;

/**
 * Of all occurrences that an item may keep. Rejected: an index over the item, which every kept payload would write.
 */
export const slotIds = (itemId: string): string[] => Array.from({ length: KEPT }, (_, slot) => slotId(itemId, slot));
