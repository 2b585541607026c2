const UNPRINTABLE_PATTERN = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const CONTROL_PATTERN = /\p{Cc}/u;

export const hasControlCharacters = (text: string): boolean => CONTROL_PATTERN.test(text);

/** Returns one line without control characters. */
export function toPrintable(text: string, length = 500): string {
  const clean = text.replaceAll(UNPRINTABLE_PATTERN, '').toWellFormed();
  if (clean.length <= length) return clean;
  // Avoids half a surrogate pair.
  return `${clean.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Escapes control characters in JSON. @param escape prefix of the number */
export const toPrintableJson = (json: string, escape = '\\u'): string =>
  json.replaceAll(UNPRINTABLE_PATTERN, (char) => `${escape}${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Returns printable lines, for example of release notes. */
export const toPrintableLines = (text: string, length = 20_000): string =>
  text
    .slice(0, length)
    .split(/\r\n|[\r\n]/)
    .map((line) => toPrintable(line.replaceAll('\t', '    '), length))
    .join('\n');
