/**
 * Five groups of five characters, the last one a check character over GF(32), which detects every
 * wrong character and every swap of two neighbors (contract 50, key).
 */
import { hash, randomBytes } from 'node:crypto';
import { normalizeLicenseKey } from '../../../lib/formats/license-key.js';

export { normalizeLicenseKey, getCredentialName } from '../../../lib/formats/license-key.js';

/** Of GF(32), in order, without the easily confused 0, 1, I and O. */
export const KEY_ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const RANDOM_LENGTH = 24;
const GROUP_LENGTH = 5;
const KEY_LENGTH = RANDOM_LENGTH + 1;
const KEY_PATTERN = new RegExp(`^[${KEY_ALPHABET}]{5}(?:-[${KEY_ALPHABET}]{5}){4}$`);

/** g^(i+1) · v in GF(32) with x⁵ + x² + 1 and g = 2. */
function computeWeight(value: number, i: number): number {
  let product = value;
  for (let step = 0; step <= i; step++) {
    product <<= 1;
    if (product & 32) product ^= 0b100101;
  }
  return product;
}

const WEIGHT_TABLE: readonly (readonly number[])[] = Array.from({ length: RANDOM_LENGTH }, (_, i) =>
  Array.from(KEY_ALPHABET, (_character, value) => computeWeight(value, i)),
);

export function computeCheckCharacter(characters: string): string {
  let sum = 0;
  for (let i = 0; i < RANDOM_LENGTH; i++) sum ^= WEIGHT_TABLE[i]?.[KEY_ALPHABET.indexOf(characters[i] ?? '')] ?? 0;
  return KEY_ALPHABET[sum] ?? '';
}

/** 32 divides 256, so the lower five bits of a random byte are unbiased. */
export function generateKey(random: (bytes: number) => Uint8Array = randomBytes): string {
  const characters = Array.from(random(RANDOM_LENGTH), (byte) => KEY_ALPHABET[byte & 31]).join('');
  return normalizeLicenseKey(characters + computeCheckCharacter(characters));
}

export function isKey(canonical: string): boolean {
  if (!KEY_PATTERN.test(canonical)) return false;
  const characters = canonical.replaceAll('-', '');
  return computeCheckCharacter(characters.slice(0, RANDOM_LENGTH)) === characters[KEY_LENGTH - 1];
}

/** Returns the hex SHA-256, by which a key is looked up. */
export const hashKey = (canonical: string): string => hash('sha256', canonical, 'hex');

export const maskKey = (canonical: string): string => `${'*****-'.repeat(4)}${canonical.slice(-GROUP_LENGTH)}`;
