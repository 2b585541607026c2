const ID_PATTERN = /"id":"((?:[^"\\]|\\.){1,200})"/;

export const extractId = (text: string): string | null => ID_PATTERN.exec(text)?.[1] ?? null;

export class DamagedTextError extends Error {
  override name = 'DamagedText';

  constructor(
    why: string,
    readonly id: string | null,
    options?: ErrorOptions,
  ) {
    super(`a stored text cannot be read: ${why}`, options);
  }
}

/** SQLite's JSON functions reject an invalid body without naming its row. */
export const isMalformedJsonError = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('malformed JSON');

export const isDamageError = (error: unknown): boolean =>
  error instanceof DamagedTextError || isMalformedJsonError(error);
