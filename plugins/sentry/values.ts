/** Reads untyped values, because nothing has validated what SDKs send. */
import { boundJson, type JsonBounds } from '../../lib/json-bounds.js';
import type { Json } from '../../ports/store.js';

export type Loose = Readonly<Record<string, unknown>>;

export const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

/** Returns non-blank text. Numbers and booleans become text; other values null. */
export function text(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

const BREAK = /[\r\n\u2028\u2029]/;

/** Returns one line of text. The test is cheaper than a replacement without matches. */
export function line(value: unknown): string | null {
  const given = text(value);
  return given !== null && BREAK.test(given) ? given.replace(/[\r\n\u2028\u2029]+/g, ' ') : given;
}

/** Accepts `{values: […]}`, a bare list, or a single object. */
export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const holder = record(value);
  if (holder === null) return [];
  return Array.isArray(holder['values']) ? holder['values'] : 'values' in holder ? [] : [holder];
}

export const records = (value: unknown): Loose[] => list(value).filter((one): one is Loose => record(one) !== null);

/** Deeper values are dropped, because later code is recursive. */
const BOUNDS: JsonBounds = { depth: 24, deeper: (inner) => (Array.isArray(inner) ? '[…]' : '{…}') };

export const shallow = (value: unknown): Json => boundJson(value, BOUNDS);
