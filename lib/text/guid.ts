/** For quick checks. */
export const GUID_START_SOURCE = '[0-9a-f]{8}-[0-9a-f]{4}-';

export const GUID_SOURCE = `${GUID_START_SOURCE}[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`;

const WHOLE_GUID_PATTERN = new RegExp(`^${GUID_SOURCE}$`);
const UUID_V7_PATTERN = new RegExp(`^${GUID_START_SOURCE}7`);

/** Returns whether the whole text is a lower-case GUID. */
export const isGuid = (text: string): boolean => WHOLE_GUID_PATTERN.test(text);

/** Returns the time of a UUIDv7 in Unix milliseconds, or null. */
export const getGuidTime = (text: string): number | null =>
  UUID_V7_PATTERN.test(text) ? parseInt(text.slice(0, 8) + text.slice(9, 13), 16) : null;

/** Returns the GUID in lower case with dashes, or null. */
export function parseGuid(text: string): string | null {
  if (text.length > 36) return null;
  const digits = text.toLowerCase().replaceAll('-', '');
  const dashed = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return isGuid(dashed) ? dashed : null;
}
