/** A file of text as its bytes have it: UTF-8, with or without a byte order mark. */
const MARK = '\uFEFF';

export interface DecodedText {
  /** The byte order mark, or ''. */
  mark: string;
  text: string;
}

/** Null: not UTF-8. */
export function decoded(bytes: Uint8Array): DecodedText | null {
  try {
    const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return whole.startsWith(MARK) ? { mark: MARK, text: whole.slice(1) } : { mark: '', text: whole };
  } catch {
    return null; // Another encoding: the caller says so.
  }
}
