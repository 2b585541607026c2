/**
 * The texts that `q` searches (contract 20, endpoints). What every report has stands in the item itself, in one field
 * that counting leaves alone; descriptions and comments, which are long and which few items have, in a document of its
 * own (store/words.ts). Each part ends where no typed word can go on. Pure.
 */

/** The parts of `search_text`, in their order; the beginnings of words come last. */
export interface SearchedParts {
  /** Its words are found by their beginnings, as those of the title. */
  ref: string;
  title: string;
  error_message?: string | null | undefined;
  exception_class?: string | null | undefined;
  file_path?: string | null | undefined;
  /** Of the item's first report, as its SDK names it (`context.transaction`). */
  transaction?: string | null | undefined;
}

/**
 * A text as it is searched: in lower case, and letters with their marks as one character each (NFC), so that file names
 * of macOS, which are decomposed, are found by what is typed, and the other way round.
 */
export const normalizeSearchText = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC');

const BETWEEN = '\u001f';
/** Before the beginning of a word, twice: so one or two characters are found as three. */
const WORD = '\u001e';
const LETTER = /[\p{L}\p{N}_]/u;
const MAX_TRANSACTION_LENGTH = 200;
/** Characters of comments that are searched, newest first. */
const COMMENTS = 65_536;

/** The transaction that a report's context names. */
export function findTransaction(context: unknown): string | null {
  if (typeof context !== 'object' || context === null || !('transaction' in context)) return null;
  return typeof context.transaction === 'string' ? context.transaction : null;
}

/** The item's own texts in lower case. */
export function buildSearchText(searched: SearchedParts): string {
  const { title, ref, error_message, exception_class, file_path, transaction } = searched;
  const route = transaction?.slice(0, MAX_TRANSACTION_LENGTH);
  const parts = [title, error_message ?? '', exception_class ?? '', file_path ?? '', route ?? ''];
  const plain = [title, ref].map(normalizeSearchText);
  return [...parts.map((part) => normalizeSearchText(part.replaceAll(BETWEEN, ' '))), beginnings(plain.join(' '))].join(
    BETWEEN,
  );
}

/** One or two characters of each word, each once: where a letter follows none, or anything follows a blank. */
function beginnings(text: string): string {
  const found = new Set<string>();
  const points = Array.from(text.replaceAll(BETWEEN, ' ').replaceAll(WORD, ' '));
  for (const [i, point] of points.entries()) {
    const before = points[i - 1] ?? ' ';
    if (point.trim() === '' || (before.trim() !== '' && (LETTER.test(before) || !LETTER.test(point)))) continue;
    found.add(`${point}${points[i + 1] ?? ''}`.trim());
  }
  return Array.from(found, (one) => `${WORD}${WORD}${one}`).join('');
}

/**
 * What a searched text contains where a word is found in it (contract 20, endpoints: `q`): of three characters and more
 * the word itself, of fewer the beginning of a word of the title or the ref.
 */
export function toSearchTerm(word: string): string {
  const { length } = Array.from(word);
  const typed = word.replaceAll(WORD, ' ');
  return length > 2 ? typed : `${WORD.repeat(3 - length)}${typed}`;
}

/** The text of an item with another title or file; message, class and transaction stay. */
export function rebuildSearchText(
  { search_text, ref }: { search_text: string; ref: string },
  change: { title?: string; file_path?: string | null },
): string {
  const [title = '', error_message, exception_class, file_path, transaction] = search_text.split(BETWEEN);
  return buildSearchText({ ref, title, error_message, exception_class, file_path, transaction, ...change });
}

/** All that is searched of an item that has a description or comments. @param comments newest first */
export function buildWordsText(own: string, description: string | null, comments: readonly string[]): string {
  const said = comments.join(BETWEEN).slice(0, COMMENTS);
  return [own, normalizeSearchText(description ?? ''), normalizeSearchText(said)].join(BETWEEN);
}

/** Whether more comments would be cut off. */
export const isEnough = (comments: readonly string[]): boolean =>
  comments.reduce((length, comment) => length + comment.length + 1, 0) > COMMENTS;
