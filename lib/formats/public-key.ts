/** Checks the look of a public key, for Node and for browsers. Pure. */

export const MIN_RSA_BITS = 2_048;
const MAX_PEM_LENGTH = 16_384;
const PEM = /^-----BEGIN PUBLIC KEY-----\s[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/;

/** A public key that cannot be used to verify anything. */
export class KeyRefused extends Error {
  override name = 'KeyRefused';
}

/** @throws KeyRefused for a text that does not look like a public key in PEM */
export function requirePublicKeyPem(pem: string): void {
  if (typeof pem !== 'string' || pem.length > MAX_PEM_LENGTH || !PEM.test(pem.trim()))
    throw new KeyRefused('is no public key in PEM (SPKI)');
}
