/** Values of OpenTelemetry, of either encoding, as JSON. What nests too deep or is too much is left out. Pure. */
import type { Json } from '../../ports/store.js';

/** Deeper ones are left out: later walks go by recursion. */
export const DEEPEST = 8;
/** Attributes of one record, resource or map. */
export const MOST_ATTRIBUTES = 256;

/** A map of attributes; it has no prototype, since whoever sends it names its keys. */
export type Attributes = { [key: string]: Json };

export const noAttributes = (): Attributes => Object.create(null) as Attributes;

/** Text, or a number or boolean as text; null for what is blank or something else. */
export function textOf(value: Json | undefined): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** The first of several names that has text. */
export function firstText(attributes: Attributes, ...names: readonly string[]): string | null {
  for (const name of names) {
    const found = textOf(attributes[name]);
    if (found !== null) return found;
  }
  return null;
}
