/**
 * Invisible characters: bidirectional controls, zero-width and other format characters, fillers.
 * They disguise `gnp.exe` as `exe.png`, make names look equal, and hide secrets from patterns.
 * Linear.
 */
type Range = readonly [first: number, last: number];

const UNSEEN_RANGES: readonly Range[] = [
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
/** Control characters and variation selectors: mostly harmless, but invisible. */
const SILENT_RANGES: readonly Range[] = [
  [0x0, 0x8],
  [0xe, 0x1a],
  [0x1c, 0x1f],
  [0x7f, 0x9f],
  [0x180b, 0x180f],
  [0xfe00, 0xfe0f],
];
/** Full-width ASCII, in the same order. */
const WIDE: Range = [0xff01, 0xff5e];
const WIDE_OFFSET = 0xfee0;
/** High surrogates of the tags, U+E0000 to U+E0FFF. */
const TAG_HALVES: Range = [0xdb40, 0xdb43];
/** High surrogates of shorthand and musical formats. */
const SHORTHAND_HALF = 0xd82f;
const MUSIC_HALF = 0xd834;
const ESCAPE = 0x1b;

const unit = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;
const classOf = (ranges: readonly Range[]): string =>
  ranges.map(([first, last]) => `${unit(first)}-${unit(last)}`).join('');

/** Character class content for the basic plane. */
export const UNSEEN = classOf(UNSEEN_RANGES);

/** With tags, for `u` patterns. */
export const UNSEEN_CHARACTERS = `${UNSEEN}\\u{e0000}-\\u{e0fff}`;
/** A joiner within an emoji is visible as the emoji. */
export const EMOJI_JOINER =
  '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})';
const EACH_UNSEEN = new RegExp(`(${EMOJI_JOINER})|[${UNSEEN_CHARACTERS}]`, 'gu');

/** `[U+202E]` */
export const formatUnseenMark = (character: string): string =>
  `[U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}]`;

/** Marks each invisible character as `[U+202E]`. */
export const markUnseen = (text: string): string =>
  text.replace(EACH_UNSEEN, (found, joiner: string | undefined) => joiner ?? formatUnseenMark(found));

/** Terminal escape sequence, or its beginning. */
const SEQUENCE = `${unit(ESCAPE)}(?:\\[[0-9;?]{0,32}[A-Za-z])?`;
const PAIRS = [
  `[${classOf([TAG_HALVES])}][\\udc00-\\udfff]`,
  `${unit(SHORTHAND_HALF)}[\\udca0-\\udca3]`,
  `${unit(MUSIC_HALF)}[\\udd73-\\udd7a]`,
].join('|');
const EACH_GONE = new RegExp(`[${UNSEEN}${classOf(SILENT_RANGES)}]|${PAIRS}|${SEQUENCE}`, 'g');
const EACH_WIDE = new RegExp(`[${classOf([WIDE])}]`, 'g');

/** Flags per code unit; much faster than a pattern on the texts of every call. */
const NOTICED = new Uint8Array(0x10000);
const SINGLE = [SHORTHAND_HALF, MUSIC_HALF, ESCAPE].map((code): Range => [code, code]);
for (const [first, last] of [...UNSEEN_RANGES, ...SILENT_RANGES, WIDE, TAG_HALVES, ...SINGLE])
  NOTICED.fill(1, first, last + 1);

function isNoticed(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (NOTICED[text.charCodeAt(i)] === 1) return true;
  return false;
}

/**
 * Returns the text as displayed: no invisible characters, full-width letters as ASCII; the same
 * text if unchanged.
 */
export function toSeenText(text: string): string {
  if (!isNoticed(text)) return text;
  return text
    .replace(EACH_GONE, '')
    .replace(EACH_WIDE, (wide) => String.fromCharCode(wide.charCodeAt(0) - WIDE_OFFSET));
}

const ASCII = /^[\u0020-\u007e\t\r\n]*$/;
/** Maximum letters per character: `㎑` is `kHz`. */
const MAX_LETTERS_PER_CHARACTER = 3;

/** Returns whether a reader could copy this many letters from the text. */
export const mayHoldLetters = (text: string, count: number): boolean =>
  text.length >= count || (text.length * MAX_LETTERS_PER_CHARACTER >= count && !ASCII.test(text));

/** Line end with surrounding blanks and quote marks of editors and mail. */
const LINE_END = /[ \t]{0,100}(?:\r\n?|[\n\u0085\u2028\u2029])[ \t>|]{0,100}/g;

/**
 * Lists the forms in which a reader may copy letters: as displayed, with letter variants
 * (mathematical, circled, superscript) normalized, and without line ends. Linear.
 */
export function listCopiedForms(text: string): string[] {
  const seen = ASCII.test(text) ? text : toSeenText(toSeenText(text).normalize('NFKC'));
  const joined = seen.replace(LINE_END, '');
  return joined === seen ? [seen] : [seen, joined];
}
