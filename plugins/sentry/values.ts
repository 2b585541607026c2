/** Reads values of any shape. No schema describes what SDKs send, and nothing has checked it before this. Pure. */
import { boundJson, type JsonBounds } from '../../lib/json-bounds.js';
import type { Json } from '../../ports/store.js';

export type Loose = Readonly<Record<string, unknown>>;

/** The object; null for anything else. */
export const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

/** Text that is not blank. Numbers and booleans become text; anything else is null. */
export function text(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

const BREAK = /[\r\n\u2028\u2029]/;

/** One line of text. Most are one already, and to ask is cheaper than to replace nothing. */
export function line(value: unknown): string | null {
  const given = text(value);
  return given !== null && BREAK.test(given) ? given.replace(/[\r\n\u2028\u2029]+/g, ' ') : given;
}

/** `{values: […]}` and a bare list mean the same; a single object is a list of one. */
export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const holder = record(value);
  if (holder === null) return [];
  return Array.isArray(holder['values']) ? holder['values'] : 'values' in holder ? [] : [holder];
}

/** The objects of a list. */
export const records = (value: unknown): Loose[] => list(value).filter((one): one is Loose => record(one) !== null);

/** Deeper values are dropped, because later code walks them by recursion. */
const BOUNDS: JsonBounds = { depth: 24, deeper: (inner) => (Array.isArray(inner) ? '[…]' : '{…}') };

/** The same value, or a copy when it nests too deep. It comes from `JSON.parse`, so it is JSON. */
export const shallow = (value: unknown): Json => boundJson(value, BOUNDS);
