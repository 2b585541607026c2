export const MIN_RSA_BITS = 2_048;
const MAX_PEM_LENGTH = 16_384;
const PEM_PATTERN = /^-----BEGIN PUBLIC KEY-----\s[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/;

/** An unusable public key. */
export class KeyRefused extends Error {
  override name = 'KeyRefused';
}

/**
 * Checks the form of a PEM public key.
 * @throws KeyRefused
 */
export function requirePublicKeyPem(pem: string): void {
  if (typeof pem !== 'string' || pem.length > MAX_PEM_LENGTH || !PEM_PATTERN.test(pem.trim()))
    throw new KeyRefused('is not a PEM public key (SPKI)');
}
