/**
 * Text from outside that every engine stores alike: NUL and halves of surrogate pairs become U+FFFD. An engine would cut
 * the text there, refuse it, or replace it in its own way. Pure.
 */
import type { Report } from '../../ports/domain/bugs.js';
import type { Json } from '../../ports/store.js';

const BROKEN = /\0|\p{Surrogate}/gu;
/** Deeper values have been refused by the HTTP adapter already. */
const DEEPEST = 64;

export const cleanText = (text: string): string => text.replace(BROKEN, '\ufffd');

export function cleanJson(value: Json | undefined, depth = 0): Json {
  if (typeof value === 'string') return cleanText(value);
  if (value === null || value === undefined || typeof value !== 'object') return value ?? null;
  if (depth >= DEEPEST) return null;
  if (Array.isArray(value)) return value.map((element) => cleanJson(element, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key), cleanJson(inner, depth + 1)]));
}

/** A copy of the report whose every text is whole. */
export const cleanReport = (report: Report): Report => cleanJson({ ...report } as unknown as Json) as unknown as Report;
