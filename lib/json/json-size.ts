import { findCutIndex } from '../text/cut-text.js';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined };

const countCharacters = (text: string, limit: number): number =>
  text.length <= limit || findCutIndex(text, limit) < text.length ? text.length : limit;

/** Returns the length of a value as JSON in code points, without escapes; stops above `limit`. */
export function getJsonSize(value: Json, limit: number): number {
  if (typeof value === 'string') return countCharacters(value, Math.max(0, limit - 2)) + 2;
  if (value === null || typeof value !== 'object') return String(value).length;
  let size = 1;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && size <= limit; i++) size += getJsonSize(value[i] ?? null, limit - size) + 1;
  } else {
    for (const key in value) {
      if (size > limit) break;
      size += key.length + 4 + getJsonSize(value[key] ?? null, limit - size - key.length);
    }
  }
  return Math.max(2, size);
}
