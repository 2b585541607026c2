/**
 * Verifiers hold public keys only (contract 40, files and pubkey; contract 50); the algorithm is
 * the key's, never the document's claim.
 */
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { decodeCanonicalBase64 } from './base64.js';
import { KeyRefused, MIN_RSA_BITS, requirePublicKeyPem } from './public-key.js';

export interface VerifyingKey {
  /** First 16 hex characters of SHA-256 over the SPKI DER. */
  keyId: string;
  /** SHA-256 over the SPKI DER, hex; clients pin it. */
  spkiSha256: string;
  algorithm: 'rsa-sha256' | 'ed25519';
  key: KeyObject;
  spki: Buffer;
}

/** An earlier key, with its signature over its successor's SPKI DER. */
export interface Predecessor {
  /** SPKI PEM. */
  public_key: string;
  /** Base64. */
  signature: string;
}

const MAX_CHAIN_LENGTH = 100;

/**
 * Parses a public key.
 * @param pem SPKI: RSA of at least 2048 bits, or Ed25519
 * @throws KeyRefused
 */
export function parsePublicKey(pem: string): VerifyingKey {
  requirePublicKeyPem(pem);
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    throw new KeyRefused('is not a valid public key');
  }
  const spki = key.export({ type: 'spki', format: 'der' });
  const spkiSha256 = createHash('sha256').update(spki).digest('hex');
  return { keyId: spkiSha256.slice(0, 16), spkiSha256, algorithm: getKeyAlgorithm(key), key, spki };
}

function getKeyAlgorithm(key: KeyObject): VerifyingKey['algorithm'] {
  if (key.asymmetricKeyType === 'ed25519') return 'ed25519';
  if (key.asymmetricKeyType !== 'rsa') throw new KeyRefused('is neither an RSA nor an Ed25519 key');
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < MIN_RSA_BITS) throw new KeyRefused(`is an RSA key of ${bits} bits; at least ${MIN_RSA_BITS} are wanted`);
  return 'rsa-sha256';
}

/**
 * Verifies RSASSA-PKCS1-v1_5 with SHA-256, or Ed25519.
 * @param signature canonical base64
 */
export function isSignedBy({ key, algorithm }: VerifyingKey, bytes: Uint8Array, signature: string): boolean {
  const raw = decodeCanonicalBase64(signature);
  return raw !== null && verify(algorithm === 'ed25519' ? null : 'sha256', bytes, key, raw);
}

/**
 * Returns whether predecessors lead from a pinned key to the current one (contract 40, pubkey;
 * contract 90, freshness and key pinning).
 * @param pin SHA-256 of the SPKI DER, hex
 * @param predecessors newest first
 */
export function hasTrustedChain(pin: string, current: VerifyingKey, predecessors: readonly Predecessor[]): boolean {
  if (current.spkiSha256 === pin) return true;
  let successor = current;
  for (const { public_key: pem, signature } of predecessors.slice(0, MAX_CHAIN_LENGTH)) {
    const earlier = tryParsePublicKey(pem);
    if (earlier === null || !isSignedBy(earlier, successor.spki, signature)) return false;
    if (earlier.spkiSha256 === pin) return true;
    successor = earlier;
  }
  return false;
}

/** Parses a public key; null when it is unusable. */
export function tryParsePublicKey(pem: string): VerifyingKey | null {
  try {
    return parsePublicKey(pem);
  } catch (error) {
    if (error instanceof KeyRefused) return null;
    throw error;
  }
}
