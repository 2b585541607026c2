/** License keys as every program spells them (contract 50, key; contract 40, access files). Pure. */

/** A longer text is no key, however it is grouped, and is not looked at any further. */
const LONGEST = 200;

/** As programs send it. */
const CANONICAL = /^[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}$/;

/** The one spelling of a key: trimmed, upper case, in groups of five. Other text becomes something that is no key. */
export function canonicalKey(text: string): string {
  if (CANONICAL.test(text)) return text;
  const characters = text
    .slice(0, LONGEST)
    .toUpperCase()
    .replaceAll(/[\s-]+/g, '');
  return (characters.match(/.{1,5}/g) ?? []).join('-');
}

/**
 * The user name of a key in the access files.
 * @param sha256 the SHA-256 of the canonical text, hex
 */
export const credentialName = (sha256: string): string => `lic_${sha256.slice(0, 16)}`;
