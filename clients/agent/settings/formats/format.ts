/** Edits settings as text (contract 90, setup.json), so that all other bytes stay. */

export type SettingValue = string | number | boolean;

export interface SettingsFormat {
  /**
   * @returns null when the key is missing or empty
   * @throws FormatError for malformed text, or a key with more than one value
   */
  read: (text: string, key: string) => SettingValue | null;
  /**
   * Returns the text with this value at the key, created if missing. Blank text is a new file.
   * @throws FormatError
   */
  write: (text: string, key: string, value: SettingValue) => string;
  refusedKey: (key: string) => string | null;
  refusedValue: (value: SettingValue) => string | null;
}

/** Reports a file that stays unchanged. The message continues a sentence after the file's name. */
export class FormatError extends Error {
  override name = 'FormatError';
}

export const isBlank = (text: string): boolean => /^\s*$/.test(text);

export const getLineEnd = (text: string): string => /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';

export function formatPosition(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `line ${line}, column ${offset - before.lastIndexOf('\n')}`;
}

export const spliceText = (text: string, from: number, to: number, insert: string): string =>
  text.slice(0, from) + insert + text.slice(to);

export function getSingleLineFault(value: SettingValue): string | null {
  return typeof value === 'string' && /[\r\n\0]/.test(value) ? 'must be one line, without CR, LF and NUL' : null;
}
