/** Derived from the subject, so the same document cannot be stored twice. */
import { hash } from 'node:crypto';
import { MAX_SLOTS } from './payload-sampling.js';

/** Plain concatenations of two projects could collide. */
export const hashWithinProject = (project: string, text: string): string =>
  hash('sha256', `${project}\u001f${text}`).slice(0, 40);

export const toSlotId = (itemId: string, slot: number): string => `${itemId}:${slot}`;

/** Every stored payload would write an index over the item. */
export const listSlotIds = (itemId: string): string[] =>
  Array.from({ length: MAX_SLOTS }, (_, slot) => toSlotId(itemId, slot));
