/**
 * Text from outside that every engine stores alike: NUL and halves of surrogate pairs become U+FFFD. An engine would
 * cut the text there, refuse it, or replace it in its own way.
 */
export const cleanText = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\ufffd');
