/**
 * Short texts of every report are in one item field that counting does not touch; descriptions and
 * comments have a separate document (store/search-texts.ts). Parts are separated so that no search
 * term spans two of them (contract 20, endpoints).
 */

/** In order; word prefixes come last. */
export interface SearchTextParts {
  ref: string;
  title: string;
  error_message?: string | null | undefined;
  exception_class?: string | null | undefined;
  file_path?: string | null | undefined;
  transaction?: string | null | undefined;
}

/** Lower case and NFC, because macOS decomposes file names. */
export const normalizeSearchText = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC');

const PART_SEPARATOR = '\u001f';
/** Twice before a prefix, so that one or two characters are found as three. */
const PREFIX_MARK = '\u001e';
const LETTER_PATTERN = /[\p{L}\p{N}_]/u;
const MAX_TRANSACTION_LENGTH = 200;
const MAX_COMMENTS_LENGTH = 65_536;

export function findTransaction(context: unknown): string | null {
  if (typeof context !== 'object' || context === null || !('transaction' in context)) return null;
  return typeof context.transaction === 'string' ? context.transaction : null;
}

export function buildSearchText(searched: SearchTextParts): string {
  const { title, ref, error_message, exception_class, file_path, transaction } = searched;
  const route = transaction?.slice(0, MAX_TRANSACTION_LENGTH);
  const parts = [title, error_message ?? '', exception_class ?? '', file_path ?? '', route ?? ''];
  const plain = [title, ref].map(normalizeSearchText);
  return [
    ...parts.map((part) => normalizeSearchText(part.replaceAll(PART_SEPARATOR, ' '))),
    listWordPrefixes(plain.join(' ')),
  ].join(PART_SEPARATOR);
}

function listWordPrefixes(text: string): string {
  const found = new Set<string>();
  const points = Array.from(text.replaceAll(PART_SEPARATOR, ' ').replaceAll(PREFIX_MARK, ' '));
  for (const [i, point] of points.entries()) {
    const before = points[i - 1] ?? ' ';
    if (point.trim() === '' || (before.trim() !== '' && (LETTER_PATTERN.test(before) || !LETTER_PATTERN.test(point))))
      continue;
    found.add(`${point}${points[i + 1] ?? ''}`.trim());
  }
  return Array.from(found, (one) => `${PREFIX_MARK}${PREFIX_MARK}${one}`).join('');
}

/**
 * Returns the word, or for one or two characters a word prefix of title or ref (contract 20,
 * endpoints: `q`).
 */
export function toSearchTerm(word: string): string {
  const { length } = Array.from(word);
  const typed = word.replaceAll(PREFIX_MARK, ' ');
  return length > 2 ? typed : `${PREFIX_MARK.repeat(3 - length)}${typed}`;
}

export function rebuildSearchText(
  { search_text, ref }: { search_text: string; ref: string },
  change: { title?: string; file_path?: string | null },
): string {
  const [title = '', error_message, exception_class, file_path, transaction] = search_text.split(PART_SEPARATOR);
  return buildSearchText({ ref, title, error_message, exception_class, file_path, transaction, ...change });
}

export function buildFullSearchText(own: string, description: string | null, comments: readonly string[]): string {
  const commentText = comments.join(PART_SEPARATOR).slice(0, MAX_COMMENTS_LENGTH);
  return [own, normalizeSearchText(description ?? ''), normalizeSearchText(commentText)].join(PART_SEPARATOR);
}

export const isOverCommentLimit = (comments: readonly string[]): boolean =>
  comments.reduce((length, comment) => length + comment.length + 1, 0) > MAX_COMMENTS_LENGTH;
