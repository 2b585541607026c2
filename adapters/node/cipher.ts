/**
 * Encrypts secrets at rest with AES-256-GCM under a key that HKDF-SHA256 derives from
 * `security.data_key`. Sealed text is `v1.<base64url of nonce(12) | tag(16) | ciphertext>`. The
 * purpose is additional authenticated data, so that text copied into another field cannot be opened
 * there. Random nonces are safe up to 2^32 texts per key. A KDF with a work factor is unnecessary,
 * because the data key is random.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Cipher } from '../../ports/cipher.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION_PREFIX = 'v1.';

export class DataCipher implements Cipher {
  private readonly key: Buffer;

  constructor(private readonly dataKey: string) {
    if (dataKey.length < 32) throw new TypeError('the data key is shorter than 32 characters');
    this.key = this.deriveKey('aos/cipher/v1');
  }

  private deriveKey(info: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.dataKey, '', info, 32));
  }

  seal(plain: string, purpose: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce);
    cipher.setAAD(Buffer.from(purpose, 'utf8'));
    const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return VERSION_PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
  }

  open(sealed: string, purpose: string): string {
    const bytes = Buffer.from(sealed.slice(VERSION_PREFIX.length), 'base64url');
    if (!sealed.startsWith(VERSION_PREFIX) || bytes.length < NONCE_BYTES + TAG_BYTES)
      throw new Error('the text is not encrypted');
    const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(purpose, 'utf8'));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      );
    } catch (error) {
      throw new Error('the text was encrypted with another key or for another purpose, or was modified', {
        cause: error,
      });
    }
  }

  derive(purpose: string): Buffer {
    return this.deriveKey(`aos/derive/v1/${purpose}`);
  }
}
