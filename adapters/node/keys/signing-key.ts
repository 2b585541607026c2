/**
 * Private signing keys: the RSA key of releases (contract 40, pubkey), and the license key, a PEM
 * or a seed text (contract 50, license files).
 */
import { createHash, createPrivateKey, createPublicKey, hkdfSync, sign, type KeyObject } from 'node:crypto';
import type { PublicKey } from '../../../ports/signer.js';

export const MIN_RSA_BITS = 2048;
const MIN_SEED_CHARACTERS = 32;
const SEED_INFO = 'aos/lic/ed25519/v1';
const ED25519_PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface SigningKey {
  /** The PEM or the seed text. */
  readonly text: string;
  readonly public: PublicKey;
  /** DER. */
  readonly spki: Buffer;
  /**
   * Signs on the thread pool.
   * @returns base64
   */
  sign(bytes: Uint8Array): Promise<string>;
}

/** @throws Error that describes the problem without quoting the text */
function parsePrivateKey(text: string, kinds: readonly string[], wanted: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch {
    throw new Error('is not a readable PEM private key');
  }
  if (!kinds.includes(key.asymmetricKeyType ?? '')) throw new Error(`is not ${wanted}`);
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < MIN_RSA_BITS) {
    throw new Error(`has ${bits} bits; at least ${MIN_RSA_BITS} are required`);
  }
  return key;
}

function createSigningKey(text: string, key: KeyObject): SigningKey {
  const open = createPublicKey(key);
  const spki = open.export({ type: 'spki', format: 'der' });
  const rsa = key.asymmetricKeyType === 'rsa';
  return {
    text,
    spki,
    public: {
      key_id: createHash('sha256').update(spki).digest('hex').slice(0, 16),
      algorithm: rsa ? 'rsa-sha256' : 'ed25519',
      public_key: open.export({ type: 'spki', format: 'pem' }).toString(),
      bits: key.asymmetricKeyDetails?.modulusLength ?? 256,
    },
    // The callback form runs on the thread pool.
    sign: (bytes) =>
      new Promise((resolve, reject) => {
        sign(rsa ? 'sha256' : null, bytes, key, (error, signature) =>
          error === null ? resolve(signature.toString('base64')) : reject(error),
        );
      }),
  };
}

/** @throws Error without the key */
export function parseReleaseSigningKey(pem: string): SigningKey {
  return createSigningKey(pem, parsePrivateKey(pem, ['rsa'], 'an RSA key'));
}

/** @throws Error without the key */
export function parseLicenseSigningKey(text: string): SigningKey {
  if (text.includes('-----BEGIN'))
    return createSigningKey(text, parsePrivateKey(text, ['ed25519', 'rsa'], 'an Ed25519 or RSA key'));
  if (text.length < MIN_SEED_CHARACTERS) throw new Error(`is shorter than ${MIN_SEED_CHARACTERS} characters`);
  const seed = Buffer.from(hkdfSync('sha256', text, '', SEED_INFO, 32));
  const key = createPrivateKey({ key: Buffer.concat([ED25519_PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  return createSigningKey(text, key);
}
