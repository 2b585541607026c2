/**
 * Text from outside that every engine stores alike: NUL and halves of surrogate pairs become U+FFFD. An engine would cut
 * the text there, refuse it, or replace it in its own way. Pure.
 */
import type { Report } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store.js';

/** Deeper values have been refused by the HTTP adapter already. */
const DEEPEST = 64;

export const cleanText = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\ufffd');

/** The same value where nothing is broken; undefined becomes null. */
export function cleanJson(value: Json | undefined, depth = 0): Json {
  if (typeof value === 'string') return cleanText(value);
  if (value === null || value === undefined || typeof value !== 'object') return value ?? null;
  if (depth >= DEEPEST) return null;
  return Array.isArray(value) ? cleanArray(value, depth) : cleanObject(value, depth);
}

/** Copied from the first change on: nearly every value is whole, and this looks at every report. */
function cleanArray(value: Json[], depth: number): Json[] {
  let copy: Json[] | null = null;
  for (let i = 0; i < value.length; i++) {
    const clean = cleanJson(value[i], depth + 1);
    if (clean !== value[i]) (copy ??= value.slice())[i] = clean;
  }
  return copy ?? value;
}

function cleanObject(value: { [key: string]: Json | undefined }, depth: number): Json {
  let copy: [string, Json][] | null = null;
  const keys = Object.keys(value);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const name = cleanText(key);
    const clean = cleanJson(value[key], depth + 1);
    if (copy === null && (name !== key || clean !== value[key])) {
      copy = keys.slice(0, i).map((before) => [before, value[before] as Json]);
    }
    copy?.push([name, clean]);
  }
  return copy === null ? value : Object.fromEntries(copy);
}

/** The report with every text whole. */
export const cleanReport = (report: Report): Report => cleanJson(report as unknown as Json) as unknown as Report;
