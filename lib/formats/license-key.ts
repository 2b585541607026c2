/** License keys as every program spells them (contract 50, key; contract 40, access files). Pure. */

/** A longer text is no key, however it is grouped, and is not looked at any further. */
const MAX_KEY_INPUT_LENGTH = 200;

/** As programs send it. */
const CANONICAL = /^[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}$/;

/** Spaces, hyphens, what editors substitute for a hyphen, and characters that are not visible. */
const SEPARATORS = /[\s\-\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d\u200b-\u200f\u2060\ufeff]+/g;

/** The one spelling of a key: trimmed, upper case, in groups of five. Other text becomes something that is no key. */
export function normalizeLicenseKey(text: string): string {
  if (CANONICAL.test(text)) return text;
  const characters = text.slice(0, MAX_KEY_INPUT_LENGTH).toUpperCase().replaceAll(SEPARATORS, '');
  return (characters.match(/.{1,5}/g) ?? []).join('-');
}

/**
 * The user name of a key in the access files.
 * @param sha256 the SHA-256 of the canonical text, hex
 */
export const getCredentialName = (sha256: string): string => `lic_${sha256.slice(0, 16)}`;
