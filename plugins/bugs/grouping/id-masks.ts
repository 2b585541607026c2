const PROCESS_ID =
  /(?<![\p{L}\p{N}_])((?:p?pid|tid|process(?:[ _-]?id)?|thread(?:[ _-]?id)?)(?:[ :=#-]{1,3}|\[))\d{1,20}(?![\p{L}\p{N}_]| of )/giu;
const PROCESS_HINT = /pid|tid|process|thread/i;
const LINE_START = /^\[\d{1,20}\]/gm;

/** Retains the word: `pid 4711`, `thread-12`, and `[4711]` at the start of a line. */
export function maskProcessIds(text: string): string {
  const masked = PROCESS_HINT.test(text) ? text.replace(PROCESS_ID, '$1<number>') : text;
  return masked.includes('[') ? masked.replace(LINE_START, '[<number>]') : masked;
}

/** One word, without surrounding punctuation. */
const PATH_CANDIDATE = /[^\s"'`<>|()[\]{},;=]{2,}/g;
const NUMERIC_SEGMENT = /(?<=[/\\])\d{1,20}(?=[/\\?#:&!]|\.?$)/g;
const SEGMENT_HINT = /[/\\]\d/;
const LETTER = /\p{L}/u;

/** `/orders/4711`, but not `HTTP/2` and `3/5`. */
export const maskPathNumbers = (text: string): string =>
  SEGMENT_HINT.test(text)
    ? text.replace(PATH_CANDIDATE, (word) => (isPath(word) ? word.replace(NUMERIC_SEGMENT, '<number>') : word))
    : text;

function isPath(word: string): boolean {
  const first = word.search(/[/\\]/);
  if (first < 0) return false;
  return first === 0 || (/[/\\]/.test(word.slice(first + 1)) && LETTER.test(word));
}

const PREFIXED_ID = /(?<![\p{L}\p{N}_])([a-z]{1,10}_)(?=[a-z]{0,64}\d)[a-z0-9]{6,64}(?![\p{L}\p{N}_])/giu;

/** `pi_3Pph39e` → `pi_<id>`: the prefix distinguishes kinds. */
export const maskPrefixedIds = (text: string): string =>
  text.includes('_') ? text.replace(PREFIXED_ID, '$1<id>') : text;

const LONG_WORD = /(?<![\p{L}\p{N}])[a-z0-9]{16,}(?![\p{L}\p{N}])/giu;
const MIN_DIGITS = 4;

/** 16 or more letters and digits, with 4 or more digits. */
export const maskLongWords = (text: string): string =>
  text.replace(LONG_WORD, (word) => {
    const digits = word.replace(/\D/g, '').length;
    return digits >= MIN_DIGITS && digits < word.length ? '<id>' : word;
  });
