/** Base64 in its one spelling, for Node and for browsers. Pure. */

/** The bytes of base64 with padding; null for any text that `base64Of` would not write. */
export function decodeCanonicalBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (text === '') return null;
  try {
    const binary = atob(text);
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/** Base64 of a text's UTF-8. */
export const encodeBase64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
