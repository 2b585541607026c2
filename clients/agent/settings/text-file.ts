const BYTE_ORDER_MARK = '\uFEFF';

export interface DecodedText {
  mark: string;
  text: string;
}

/** Decodes UTF-8 with or without a byte order mark; null for another encoding. */
export function decodeText(bytes: Uint8Array): DecodedText | null {
  try {
    const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return whole.startsWith(BYTE_ORDER_MARK)
      ? { mark: BYTE_ORDER_MARK, text: whole.slice(1) }
      : { mark: '', text: whole };
  } catch {
    return null;
  }
}
