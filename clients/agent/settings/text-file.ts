const MARK = '\uFEFF';

export interface DecodedText {
  mark: string;
  text: string;
}

/** Decodes UTF-8 with or without a byte order mark; null for another encoding. */
export function decoded(bytes: Uint8Array): DecodedText | null {
  try {
    const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return whole.startsWith(MARK) ? { mark: MARK, text: whole.slice(1) } : { mark: '', text: whole };
  } catch {
    return null;
  }
}
