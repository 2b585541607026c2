/** Ids of documents that follow from their subject, so the same document cannot be stored twice. Pure. */
import { hash } from 'node:crypto';
import { KEPT } from './sampling.js';

/** An id that is unique per project. A hash and no concatenation: two projects could share the same one. */
export const hashWithinProject = (project: string, text: string): string =>
  hash('sha256', `${project}\u001f${text}`).slice(0, 40);

/** The id of the occurrence in a slot of its item (sampling.ts). */
export const toSlotId = (itemId: string, slot: number): string => `${itemId}:${slot}`;

/**
 * The ids of all occurrences that an item may keep. Rejected: an index over the item, which every kept payload would
 * write.
 */
export const listSlotIds = (itemId: string): string[] =>
  Array.from({ length: KEPT }, (_, slot) => toSlotId(itemId, slot));
