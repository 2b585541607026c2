/**
 * Text from outside that every engine stores alike: NUL and halves of surrogate pairs become U+FFFD. An engine would cut
 * the text there, refuse it, or replace it in its own way. Pure.
 */
import type { Report } from '../../ports/domain/bugs.js';
import type { Json } from '../../ports/store.js';

const BROKEN = /\0|\p{Surrogate}/gu;
/** Text without these is whole; whole pairs are told apart by the slower pattern. */
const SUSPICIOUS = /[\0\ud800-\udfff]/;
/** Deeper values have been refused by the HTTP adapter already. */
const DEEPEST = 64;

export const cleanText = (text: string): string => (SUSPICIOUS.test(text) ? text.replace(BROKEN, '\ufffd') : text);

/** The same value where nothing is broken; undefined becomes null. */
export function cleanJson(value: Json | undefined, depth = 0): Json {
  if (typeof value === 'string') return cleanText(value);
  if (value === null || value === undefined || typeof value !== 'object') return value ?? null;
  if (depth >= DEEPEST) return null;
  if (Array.isArray(value)) {
    const clean = value.map((element) => cleanJson(element, depth + 1));
    return clean.every((element, i) => element === value[i]) ? value : clean;
  }
  let whole = true;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => {
    const clean: [string, Json] = [cleanText(key), cleanJson(inner, depth + 1)];
    whole &&= clean[0] === key && clean[1] === inner;
    return clean;
  });
  return whole ? value : Object.fromEntries(entries);
}

/** The report with every text whole. */
export const cleanReport = (report: Report): Report => cleanJson(report as unknown as Json) as unknown as Report;
