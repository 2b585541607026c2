/** Cleans texts of strangers for a terminal, a log or an error message. */

/** C0, DEL, C1, line and paragraph separators, and characters that turn the direction of writing. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Control characters. `\p{Cc}` holds NUL and DEL. */
const CONTROL = /\p{Cc}/u;

export const hasControls = (text: string): boolean => CONTROL.test(text);

/** One line without control characters, at most `length` characters long. */
export function printable(text: string, length = 500): string {
  const clean = text.replaceAll(UNPRINTABLE, '').toWellFormed();
  if (clean.length <= length) return clean;
  // A cut never leaves half of a surrogate pair.
  return `${clean.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** JSON of the same value, with no character that a terminal acts upon. @param escape what stands before the number */
export const printableJson = (json: string, escape = '\\u'): string =>
  json.replaceAll(UNPRINTABLE, (char) => `${escape}${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Several lines, such as release notes, each printable. */
export const printableLines = (text: string, length = 20_000): string =>
  text
    .slice(0, length)
    .split(/\r\n|[\r\n]/)
    .map((line) => printable(line.replaceAll('\t', '    '), length))
    .join('\n');
