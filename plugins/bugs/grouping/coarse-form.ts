import { isPage } from './path-masks.js';

const WORD = /[^\s"'`“”„‘‚«»‹›()[\]{}<>,;=]+/gu;
const DIGIT = /\p{N}/u;

const WORD_PLACEHOLDER = '<word>';
const PAGE_PLACEHOLDER = '<word>/<page>';
const ORIGIN_WORD = /[^/#.:<>$]+/g;

export const toCoarseText = (masked: string): string =>
  DIGIT.test(masked) ? masked.replace(WORD, (word) => (DIGIT.test(word) ? WORD_PLACEHOLDER : word)) : masked;

/** A message may also contain the placeholder originally. */
export const isCoarse = (text: string): boolean => text.includes(WORD_PLACEHOLDER);

/** @param file as reported, which distinguishes pages from scripts */
export function toCoarseOrigin(origin: string, file: string | null): string {
  const at = origin.indexOf('#');
  const place = at < 0 ? origin : origin.slice(0, at);
  const shown = place !== '' && file !== null && isPage(file.trim()) ? PAGE_PLACEHOLDER : place;
  const whole = at < 0 ? shown : shown + origin.slice(at);
  return DIGIT.test(whole) ? whole.replace(ORIGIN_WORD, (word) => (DIGIT.test(word) ? WORD_PLACEHOLDER : word)) : whole;
}
