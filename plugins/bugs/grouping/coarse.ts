/**
 * The coarse form of a masked message (contract 21, flood): a placeholder for every word that holds a digit. It groups
 * related messages when ids of a form that no mask knows flood the list. Pure, linear.
 */

import { isPage } from './paths.js';

/** A word ends at blanks, quotes, brackets and the signs that part a name from its value. */
const WORD = /[^\s"'`“”„‘‚«»‹›()[\]{}<>,;=]+/gu;
const DIGIT = /\p{N}/u;

const PLACE = '<word>';
/** Page addresses vary in words without digits too. */
const PAGE = '<word>/<page>';
/** The parts of an origin: folders, the words of a file's name, and of a function's. */
const ORIGIN_WORD = /[^/#.:<>$]+/g;

export const toCoarseText = (masked: string): string =>
  DIGIT.test(masked) ? masked.replace(WORD, (word) => (DIGIT.test(word) ? PLACE : word)) : masked;

/** Whether a coarse text may stand for several messages; a message may hold such a placeholder from the beginning. */
export const isCoarse = (text: string): boolean => text.includes(PLACE);

/** The coarse form of an origin. @param file the frame's file as it was stated, which tells pages from scripts */
export function toCoarseOrigin(origin: string, file: string | null): string {
  const at = origin.indexOf('#');
  const place = at < 0 ? origin : origin.slice(0, at);
  const shown = place !== '' && file !== null && isPage(file.trim()) ? PAGE : place;
  const whole = at < 0 ? shown : shown + origin.slice(at);
  return DIGIT.test(whole) ? whole.replace(ORIGIN_WORD, (word) => (DIGIT.test(word) ? PLACE : word)) : whole;
}
