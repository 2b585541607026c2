/** Derived from the subject, so the same document cannot be stored twice. */
import { hash } from 'node:crypto';
import { MAX_SLOTS } from './payload-sampling.js';

/** Plain concatenations of two projects could collide. */
export const hashWithinProject = (project: string, text: string): string =>
  hash('sha256', `${project}\u001f${text}`).slice(0, 40);

export const toSlotId = (itemId: string, slot: number): string => `${itemId}:${slot}`;

/** @returns null for anything but a slot's id */
export function parseSlot(id: string | undefined): number | null {
  const slot = Number(id?.slice(id.lastIndexOf(':') + 1));
  return Number.isInteger(slot) && slot >= 0 && slot < MAX_SLOTS ? slot : null;
}

/** Every stored payload would write an index over the item. */
export const listSlotIds = (itemId: string): string[] =>
  Array.from({ length: MAX_SLOTS }, (_, slot) => toSlotId(itemId, slot));
