/** Replaces NUL and lone surrogates by U+FFFD, since engines treat them differently. */
export const cleanText = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\ufffd');
