/**
 * Invisible characters, which disguise `gnp.exe` as `exe.png`, make names look equal, and hide
 * secrets from patterns. Linear.
 */
type Range = readonly [first: number, last: number];

const INVISIBLE_RANGES: readonly Range[] = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
];
/** Mostly harmless, but invisible. */
const CONTROL_RANGES: readonly Range[] = [
  [0x0, 0x8],
  [0xe, 0x1a],
  [0x1c, 0x1f],
  [0x7f, 0x9f],
  [0x180b, 0x180f],
  [0xfe00, 0xfe0f],
];
const FULL_WIDTH_RANGE: Range = [0xff01, 0xff5e];
const FULL_WIDTH_OFFSET = 0xfee0;
/** U+E0000 to U+E0FFF. */
const TAG_HALVES: Range = [0xdb40, 0xdb43];
/** High surrogates of shorthand and musical formats. */
const SHORTHAND_HALF = 0xd82f;
const MUSIC_HALF = 0xd834;
const ESCAPE = 0x1b;

const formatCodeUnit = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;
const buildCharacterClass = (ranges: readonly Range[]): string =>
  ranges.map(([first, last]) => `${formatCodeUnit(first)}-${formatCodeUnit(last)}`).join('');

/** Character class content for the basic plane. */
export const INVISIBLE_CLASS = buildCharacterClass(INVISIBLE_RANGES);

/** With tags, for `u` patterns. */
export const INVISIBLE_CHARACTERS_CLASS = `${INVISIBLE_CLASS}\\u{e0000}-\\u{e0fff}`;
/** A joiner within an emoji is visible as the emoji. */
export const EMOJI_JOINER_SOURCE =
  '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})';
const INVISIBLE_PATTERN = new RegExp(`(${EMOJI_JOINER_SOURCE})|[${INVISIBLE_CHARACTERS_CLASS}]`, 'gu');

/** `[U+202E]` */
export const formatInvisibleMark = (character: string): string =>
  `[U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}]`;

/** Marks each invisible character as `[U+202E]`. */
export const markInvisible = (text: string): string =>
  text.replace(INVISIBLE_PATTERN, (found, joiner: string | undefined) => joiner ?? formatInvisibleMark(found));

/** Terminal escape sequence, or its beginning. */
const TERMINAL_SEQUENCE_SOURCE = `${formatCodeUnit(ESCAPE)}(?:\\[[0-9;?]{0,32}[A-Za-z])?`;
const INVISIBLE_PAIRS_SOURCE = [
  `[${buildCharacterClass([TAG_HALVES])}][\\udc00-\\udfff]`,
  `${formatCodeUnit(SHORTHAND_HALF)}[\\udca0-\\udca3]`,
  `${formatCodeUnit(MUSIC_HALF)}[\\udd73-\\udd7a]`,
].join('|');
const REMOVED_PATTERN = new RegExp(
  `[${INVISIBLE_CLASS}${buildCharacterClass(CONTROL_RANGES)}]|${INVISIBLE_PAIRS_SOURCE}|${TERMINAL_SEQUENCE_SOURCE}`,
  'g',
);
const FULL_WIDTH_PATTERN = new RegExp(`[${buildCharacterClass([FULL_WIDTH_RANGE])}]`, 'g');

/** Much faster than a pattern on the texts of every call. */
const SPECIAL_CODE_UNITS = new Uint8Array(0x10000);
const SINGLE_CODE_RANGES = [SHORTHAND_HALF, MUSIC_HALF, ESCAPE].map((code): Range => [code, code]);
for (const [first, last] of [
  ...INVISIBLE_RANGES,
  ...CONTROL_RANGES,
  FULL_WIDTH_RANGE,
  TAG_HALVES,
  ...SINGLE_CODE_RANGES,
])
  SPECIAL_CODE_UNITS.fill(1, first, last + 1);

function hasSpecialCharacters(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (SPECIAL_CODE_UNITS[text.charCodeAt(i)] === 1) return true;
  return false;
}

/**
 * Returns the text as displayed: no invisible characters, full-width letters as ASCII; the same
 * text if unchanged.
 */
export function toVisibleText(text: string): string {
  if (!hasSpecialCharacters(text)) return text;
  return text
    .replace(REMOVED_PATTERN, '')
    .replace(FULL_WIDTH_PATTERN, (wide) => String.fromCharCode(wide.charCodeAt(0) - FULL_WIDTH_OFFSET));
}

const ASCII_PATTERN = /^[\u0020-\u007e\t\r\n]*$/;
/** Maximum letters per character: `㎑` is `kHz`. */
const MAX_LETTERS_PER_CHARACTER = 3;

export const canContainLetters = (text: string, count: number): boolean =>
  text.length >= count || (text.length * MAX_LETTERS_PER_CHARACTER >= count && !ASCII_PATTERN.test(text));

/** With surrounding blanks and quote marks. */
const LINE_END_PATTERN = /[ \t]{0,100}(?:\r\n?|[\n\u0085\u2028\u2029])[ \t>|]{0,100}/g;

/**
 * Lists the forms in which a reader may copy letters: as displayed, with letter variants
 * normalized, and without line ends. Linear.
 */
export function listCopiedForms(text: string): string[] {
  const seen = ASCII_PATTERN.test(text) ? text : toVisibleText(toVisibleText(text).normalize('NFKC'));
  const joined = seen.replace(LINE_END_PATTERN, '');
  return joined === seen ? [seen] : [seen, joined];
}
