/** Engines treat NUL and lone surrogates differently. */
export const cleanText = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\ufffd');
