/** How long a value is as JSON, without writing it. Pure. */
import { isShared } from './shared-json.js';
import { endOf } from '../text/cut-text.js';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined };

/** Characters of a text. Counting stops above `limit`. */
const charactersOf = (text: string, limit: number): number =>
  text.length <= limit || endOf(text, limit) < text.length ? text.length : limit;

/** Sizes of shared objects (shared-json.ts). */
const known = new WeakMap<object, number>();

/** Characters (code points) of a value as JSON text, without escapes. Counting stops above `limit`. */
export function sizeOf(value: Json, limit: number): number {
  if (typeof value === 'string') return charactersOf(value, Math.max(0, limit - 2)) + 2;
  if (value === null || typeof value !== 'object') return String(value).length;
  const before = known.get(value);
  if (before !== undefined) return before;
  const size = counted(value, limit);
  if (size <= limit && isShared(value)) known.set(value, size);
  return size;
}

function counted(value: Json[] | { [key: string]: Json | undefined }, limit: number): number {
  let size = 1;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && size <= limit; i++) size += sizeOf(value[i] ?? null, limit - size) + 1;
  } else {
    for (const key in value) {
      if (size > limit) break;
      size += key.length + 4 + sizeOf(value[key] ?? null, limit - size - key.length);
    }
  }
  return Math.max(2, size);
}
