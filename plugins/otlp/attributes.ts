import type { Json } from '../../ports/store/index.js';

export const MAX_DEPTH = 8;
export const MAX_ATTRIBUTES = 256;

/** Attribute map without a prototype, because the sender chooses its keys. */
export type Attributes = { [key: string]: Json };

export const createAttributes = (): Attributes => Object.create(null) as Attributes;

/** Returns text, or a number or boolean as text; null for blank and other values. */
export function toText(value: Json | undefined): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

export function findFirstText(attributes: Attributes, ...names: readonly string[]): string | null {
  for (const name of names) {
    const found = toText(attributes[name]);
    if (found !== null) return found;
  }
  return null;
}
