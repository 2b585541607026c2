/** Cuts a text after a number of characters (code points), never inside one. A text that fits is not copied. Pure. */

export const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
export const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** The index after the first `limit` characters; the text's length when it has no more. */
export function findCutIndex(text: string, limit: number): number {
  let at = 0;
  for (let n = 0; n < limit && at < text.length; n++) {
    at += isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1)) ? 2 : 1;
  }
  return at;
}

/** The first `limit` characters; the same text when it has no more. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = findCutIndex(text, limit);
  return end === text.length ? text : text.slice(0, end);
}
