/**
 * The coarse form of a masked message (contract 21, flood): a placeholder for every word that holds a digit. It groups
 * related messages when ids of a form that no mask knows flood the list. Pure, linear.
 */

/** A word ends at blanks, quotes, brackets and the signs that part a name from its value. */
const WORD = /[^\s"'`“”„‘‚«»‹›()[\]{}<>,;=]+/gu;
const DIGIT = /\p{N}/u;

const PLACE = '<word>';

export const coarse = (masked: string): string =>
  DIGIT.test(masked) ? masked.replace(WORD, (word) => (DIGIT.test(word) ? PLACE : word)) : masked;

/** Whether a coarse text may stand for several messages; a message may hold such a placeholder from the beginning. */
export const isCoarse = (text: string): boolean => text.includes(PLACE);
