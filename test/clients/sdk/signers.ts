/** Keys of a service that signs licenses, and the chain that it publishes of them. */
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import {
  formatLicenseFile,
  LICENSE_FILE_SIGNED_PREFIX,
  getSignedAnswerBytes,
} from '../../../lib/formats/license-text.js';

export interface LicenseSigner {
  pem: string;
  spki: Buffer;
  kid: string;
  alg: 'ed25519' | 'rsa-sha256';
  /** Base64. */
  sign: (bytes: Uint8Array) => string;
}

function signerOf(alg: LicenseSigner['alg'], privateKey: KeyObject, publicKey: KeyObject): LicenseSigner {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return {
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    spki,
    kid: createHash('sha256').update(spki).digest('hex').slice(0, 16),
    alg,
    sign: (bytes) => sign(alg === 'ed25519' ? null : 'sha256', bytes, privateKey).toString('base64'),
  };
}

export function ed25519Signer(): LicenseSigner {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return signerOf('ed25519', privateKey, publicKey);
}

export function rsaSigner(): LicenseSigner {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return signerOf('rsa-sha256', privateKey, publicKey);
}

/** `/pubkey` after these keys were used one after the other. @param keys oldest first */
export function published(keys: readonly LicenseSigner[]): Record<string, unknown> & { predecessors: object[] } {
  const [newest, ...earlier] = [...keys].reverse();
  if (newest === undefined) throw new Error('no key');
  const predecessors = earlier.map(({ kid, alg, pem, sign }, i) => {
    const successor = [newest, ...earlier][i] ?? newest;
    return { kid, algorithm: alg, public_key: pem, signature: sign(successor.spki) };
  });
  return { algorithm: newest.alg, kid: newest.kid, public_key: newest.pem, predecessors };
}

/** An answer of `validate`, as `by` signs it. */
export function signedBy(by: LicenseSigner, answer: Record<string, unknown>): Record<string, unknown> {
  const covered = { ...answer, alg: by.alg, kid: by.kid };
  return { ...covered, signature: by.sign(getSignedAnswerBytes(covered)) };
}

/** The text of a `.lic`, as `by` signs it. */
export function licenseFileBy({ sign: signs, alg, kid }: LicenseSigner, payload: Record<string, unknown>): string {
  const enc = Buffer.from(JSON.stringify({ schema: 1, expires_at: null, ...payload })).toString('base64');
  return formatLicenseFile({ enc, sig: signs(Buffer.from(LICENSE_FILE_SIGNED_PREFIX + enc)), alg, kid });
}
