/** License keys (contract 50, key; contract 40, access files). */

const MAX_KEY_INPUT_LENGTH = 200;

const CANONICAL_KEY_PATTERN = /^[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}$/;

/** Spaces, hyphens and their typographic variants, invisible characters. */
const SEPARATOR_PATTERN = /[\s\-\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d\u200b-\u200f\u2060\ufeff]+/g;

/** Normalizes a key: trimmed, upper case, in groups of five. */
export function normalizeLicenseKey(text: string): string {
  if (CANONICAL_KEY_PATTERN.test(text)) return text;
  const characters = text.slice(0, MAX_KEY_INPUT_LENGTH).toUpperCase().replaceAll(SEPARATOR_PATTERN, '');
  return (characters.match(/.{1,5}/g) ?? []).join('-');
}

/**
 * Returns the user name of a key in the access files.
 * @param sha256 hex SHA-256 of the canonical key
 */
export const getCredentialName = (sha256: string): string => `lic_${sha256.slice(0, 16)}`;
