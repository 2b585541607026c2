/**
 * The texts that `q` searches (contract 20, endpoints). What every report has stands in the item itself, in one field
 * that counting leaves alone; descriptions and comments, which are long and which few items have, in a document of its
 * own (store/words.ts). Each part ends where no typed word can go on. Pure.
 */

/** The parts of `search_text`, in their order. */
export interface SearchedParts {
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
export const searchable = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC');

const BETWEEN = '\u001f';
const LONGEST_TRANSACTION = 200;
/** Characters of comments that are searched, newest first. */
const COMMENTS = 65_536;

/** The transaction that a report's context names. */
export function transactionIn(context: unknown): string | null {
  if (typeof context !== 'object' || context === null || !('transaction' in context)) return null;
  return typeof context.transaction === 'string' ? context.transaction : null;
}

/** The item's own texts in lower case. */
export function searchText({ title, error_message, exception_class, file_path, transaction }: SearchedParts): string {
  const route = transaction?.slice(0, LONGEST_TRANSACTION);
  const parts = [title, error_message ?? '', exception_class ?? '', file_path ?? '', route ?? ''];
  return searchable(parts.map((part) => part.replaceAll(BETWEEN, ' ')).join(BETWEEN));
}

/** The same with another title or file; message, class and transaction stay. */
export function retold(text: string, change: { title?: string; file_path?: string | null }): string {
  const [title = '', error_message, exception_class, file_path, transaction] = text.split(BETWEEN);
  return searchText({ title, error_message, exception_class, file_path, transaction, ...change });
}

/** All that is searched of an item that has a description or comments. @param comments newest first */
export function wordsText(own: string, description: string | null, comments: readonly string[]): string {
  const said = comments.join(BETWEEN).slice(0, COMMENTS);
  return [own, searchable(description ?? ''), searchable(said)].join(BETWEEN);
}

/** Whether more comments would be cut off. */
export const isEnough = (comments: readonly string[]): boolean =>
  comments.reduce((length, comment) => length + comment.length + 1, 0) > COMMENTS;
