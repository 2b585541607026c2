/**
 * Settings in files of four kinds, changed as texts (contract 90, setup.json): what a key's value takes in the text is
 * replaced, a missing key is put in, and every other byte stays. Rejected: reading a file into objects and writing it
 * anew, which loses comments, order and layout; the INI libraries on offer do that. JSON and XML are read by well-kept
 * parsers that say where everything lies.
 */

/** What a setting can be. Integers are safe ones. */
export type SettingValue = string | number | boolean;

export interface Format {
  /**
   * @returns null: the key is not there, or holds nothing
   * @throws FormatError for a text that is not of this format, or a key that holds more than one value
   */
  read: (text: string, key: string) => SettingValue | null;
  /**
   * The text with this value at the key; made where it is missing. A blank text is a new file.
   * @throws FormatError
   */
  write: (text: string, key: string, value: SettingValue) => string;
  /** Why no file of this format can have this key; null: it can. */
  refusedKey: (key: string) => string | null;
  /** Why this format cannot hold the value; null: it can. */
  refusedValue: (value: SettingValue) => string | null;
}

/** A file that is left alone. The message goes on after its name. */
export class FormatError extends Error {
  override name = 'FormatError';
}

export const isBlank = (text: string): boolean => /^\s*$/.test(text);

/** The line end of a text: that of its first line, else LF. */
export const lineEndOf = (text: string): string => /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';

/** `line 3, column 7` of an offset. */
export function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `line ${line}, column ${offset - before.lastIndexOf('\n')}`;
}

export const splice = (text: string, from: number, to: number, insert: string): string =>
  text.slice(0, from) + insert + text.slice(to);

/** Why a value cannot be one line of a file; null: it can. */
export function notOneLine(value: SettingValue): string | null {
  return typeof value === 'string' && /[\r\n\0]/.test(value) ? 'must be one line, without CR, LF and NUL' : null;
}
