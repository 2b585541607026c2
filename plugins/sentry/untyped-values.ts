/** Reads untyped values, because nothing has validated what SDKs send. */
import { boundJson, type JsonBounds } from '../../lib/json/json-bounds.js';
import type { Json } from '../../ports/store/index.js';

export type UntypedRecord = Readonly<Record<string, unknown>>;

export const toRecord = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

/** Returns non-blank text; numbers and booleans become text, others null. */
export function toText(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

const LINE_BREAK_PATTERN = /[\r\n\u2028\u2029]/;

/** The test is cheaper than a replacement without matches. */
export function toLine(value: unknown): string | null {
  const given = toText(value);
  return given !== null && LINE_BREAK_PATTERN.test(given) ? given.replace(/[\r\n\u2028\u2029]+/g, ' ') : given;
}

/** Accepts `{values: […]}`, a bare list, or a single object. */
export function toList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const holder = toRecord(value);
  if (holder === null) return [];
  return Array.isArray(holder['values']) ? holder['values'] : 'values' in holder ? [] : [holder];
}

export const toRecords = (value: unknown): UntypedRecord[] =>
  toList(value).filter((one): one is UntypedRecord => toRecord(one) !== null);

/** Later code is recursive. */
const JSON_BOUNDS: JsonBounds = { depth: 24, deeper: (inner) => (Array.isArray(inner) ? '[…]' : '{…}') };

export const limitDepth = (value: unknown): Json => boundJson(value, JSON_BOUNDS);
