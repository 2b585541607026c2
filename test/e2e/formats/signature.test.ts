/** Public keys as openssl reads them. */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { parsePublicKey } from '../../../lib/formats/signature.js';

describe('public keys', () => {
  it('have the key id that openssl computes', () => {
    const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ type: 'spki', format: 'pem' });
    const der = execFileSync('openssl', ['pkey', '-pubin', '-outform', 'DER'], { input: pem });
    const hash = createHash('sha256').update(der).digest('hex');
    expect(parsePublicKey(pem.toString())).to.include({
      keyId: hash.slice(0, 16),
      spkiSha256: hash,
      algorithm: 'rsa-sha256',
    });
  });
});
