/** Truncates text by code points; fitting text is not copied. */

export const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
export const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Returns the index after `limit` characters, or the text's length. */
export function findCutIndex(text: string, limit: number): number {
  let at = 0;
  for (let n = 0; n < limit && at < text.length; n++) {
    at += isHighSurrogate(text.charCodeAt(at)) && isLowSurrogate(text.charCodeAt(at + 1)) ? 2 : 1;
  }
  return at;
}

/** Returns the first `limit` characters. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = findCutIndex(text, limit);
  return end === text.length ? text : text.slice(0, end);
}
