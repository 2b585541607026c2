/** GUIDs as text, of every version: the one place that knows their form. Pure. */

/** How one begins: enough for a cheap sign that a text may hold one. Hexadecimal in lower case. */
export const GUID_START = '[0-9a-f]{8}-[0-9a-f]{4}-';

/** A whole one, as the source of a regular expression. */
export const GUID = `${GUID_START}[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`;

const WHOLE = new RegExp(`^${GUID}$`);
const TIMED = new RegExp(`^${GUID_START}7`);

/** Whether the text is one, in lower case, and nothing else. */
export const isGuid = (text: string): boolean => WHOLE.test(text);

/** The time in a UUIDv7, in Unix milliseconds; null: the text is none. */
export const getGuidTime = (text: string): number | null =>
  TIMED.test(text) ? parseInt(text.slice(0, 8) + text.slice(9, 13), 16) : null;

/** The GUID in lower case and with dashes, whether it came so or not; null: the text is none. */
export function parseGuid(text: string): string | null {
  if (text.length > 36) return null;
  const digits = text.toLowerCase().replaceAll('-', '');
  const dashed = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return isGuid(dashed) ? dashed : null;
}
