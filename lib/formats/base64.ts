/** Decodes padded base64; null for any spelling that the encoder would not produce. */
export function decodeCanonicalBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (text === '') return null;
  try {
    const binary = atob(text);
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/** Encodes a text's UTF-8 as base64. */
export const encodeBase64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
