/** Damage that is found in what SQLite itself read without a complaint: of one row, not of a page. */

/** Finds an id of at most 200 characters. */
const ID = /"id":"((?:[^"\\]|\\.){1,200})"/;

/** The document's id, where what is left of its text tells it. */
export const idIn = (text: string): string | null => ID.exec(text)?.[1] ?? null;

/** A stored text is not what was stored: the row that holds it is damaged. */
export class DamagedText extends Error {
  override name = 'DamagedText';

  /** @param id of the document; null: it is not known */
  constructor(
    why: string,
    readonly id: string | null,
    options?: ErrorOptions,
  ) {
    super(`a stored text cannot be read: ${why}`, options);
  }
}

/** SQLite's own functions refuse a body that is no JSON, without naming its row. */
export const isMalformed = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('malformed JSON');

export const isDamage = (error: unknown): boolean => error instanceof DamagedText || isMalformed(error);
