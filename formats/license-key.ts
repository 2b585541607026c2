/** License keys as every program spells them (contract 50, key; contract 40, access files). Pure. */

/** What is longer is no key, however it is grouped; only so much is looked at. */
const LONGEST = 200;

/**
 * The one spelling of a key: trimmed, upper case, in groups of five. Of other text it makes something that is no key.
 */
export const canonicalKey = (text: string): string =>
  (
    text
      .slice(0, LONGEST)
      .toUpperCase()
      .replaceAll(/[\s-]+/g, '')
      .match(/.{1,5}/g) ?? []
  ).join('-');

/**
 * The user name of a key in the access files.
 * @param sha256 of the canonical text, hex
 */
export const credentialName = (sha256: string): string => `lic_${sha256.slice(0, 16)}`;
