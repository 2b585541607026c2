/**
 * Verifies license files and signed answers with WebCrypto (contract 50). The algorithm is the
 * key's, never the document's.
 */
import type { webcrypto } from 'node:crypto';
import { decodeCanonicalBase64 } from '../../../lib/formats/base64.js';
import {
  parseAnswerClaim,
  parseFileClaim,
  validateLicenseAnswer,
  validateLicensePayload,
  resolveClaimKey,
  type AnswerResult,
  type SignatureClaim,
  type LicenseFault,
  type LicenseFileChecks,
  type LicenseFileResult,
  type LicenseRequest,
} from '../../../lib/formats/license-text.js';
import { followKeyChain, type KeyChain } from '../key-chain.js';
import { KeyRefused, MIN_RSA_BITS, requirePublicKeyPem } from '../../../lib/formats/public-key.js';

/** @throws TypeError on a page without https, which has no WebCrypto */
function getWebCrypto(): webcrypto.SubtleCrypto {
  const { subtle } = globalThis.crypto as { subtle?: webcrypto.SubtleCrypto };
  if (subtle === undefined)
    throw new TypeError('licenses require WebCrypto, which browsers provide only on https pages');
  return subtle;
}

export async function computeSha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await getWebCrypto().digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface ImportedKey {
  keyId: string;
  /** Hex. */
  spkiSha256: string;
  spki: Uint8Array<ArrayBuffer>;
  algorithm: 'rsa-sha256' | 'ed25519';
  key: webcrypto.CryptoKey;
}

const ED25519_ALGORITHM = { name: 'Ed25519' };
const RSA_ALGORITHM = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
/** Prefix of an Ed25519 key's SPKI. */
const ED25519_SPKI_PREFIX = '302a300506032b6570032100';

/** @throws KeyRefused also for an Ed25519 key that the browser does not support */
async function readPublicKey(pem: string): Promise<ImportedKey> {
  requirePublicKeyPem(pem);
  const spki = decodeCanonicalBase64(pem.replaceAll(/-----[^-]+-----|\s/g, ''));
  if (spki === null) throw new KeyRefused('is not a PEM public key (SPKI)');
  const head = Array.from(spki.slice(0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const algorithm = head === ED25519_SPKI_PREFIX ? 'ed25519' : 'rsa-sha256';
  const key = await getWebCrypto()
    .importKey('spki', spki, algorithm === 'ed25519' ? ED25519_ALGORITHM : RSA_ALGORITHM, false, ['verify'])
    .catch(() => null);
  if (key === null) throw new KeyRefused('is not an RSA or Ed25519 key supported by this browser');
  const bits = (key.algorithm as { modulusLength?: number }).modulusLength ?? MIN_RSA_BITS;
  if (bits < MIN_RSA_BITS) throw new KeyRefused(`is an RSA key of ${bits} bits; at least ${MIN_RSA_BITS} are required`);
  const spkiSha256 = await computeSha256Hex(spki);
  return { keyId: spkiSha256.slice(0, 16), spkiSha256, spki, algorithm, key };
}

async function getSignatureFault(
  pems: string | readonly string[],
  claim: SignatureClaim,
): Promise<LicenseFault | null> {
  const named = resolveClaimKey(await Promise.all([pems].flat().map(readPublicKey)), claim);
  if (typeof named === 'string') return named;
  return (await isSignedBy(named.key, claim.bytes, named.signature)) ? null : 'wrong_signature';
}

/** @param signature canonical base64; other text is never valid */
async function isSignedBy(
  { algorithm, key }: ImportedKey,
  bytes: Uint8Array<ArrayBuffer>,
  signature: string,
): Promise<boolean> {
  const raw = decodeCanonicalBase64(signature);
  return (
    raw !== null &&
    (await getWebCrypto().verify(algorithm === 'ed25519' ? ED25519_ALGORITHM : RSA_ALGORITHM, key, raw, bytes))
  );
}

async function readPublicKeyOrNull(pem: string): Promise<ImportedKey | null> {
  try {
    return await readPublicKey(pem);
  } catch (error) {
    if (error instanceof KeyRefused) return null;
    throw error;
  }
}

/** Returns the keys that a chain leads to from a pinned one. */
export const resolveFollowingKeys = (pinned: readonly string[], chain: KeyChain): Promise<readonly string[]> =>
  followKeyChain(pinned, chain, {
    read: readPublicKeyOrNull,
    isSigned: (by, bytes, signature) => isSignedBy(by, new Uint8Array(bytes), signature),
  });

/**
 * Verifies the text of a `.lic`. Never rejects because of the file's content.
 * @param pem SPKI, PEM: one public key, or all that may have signed
 * @throws KeyRefused for an invalid public key; TypeError on a page without WebCrypto
 */
export async function verifyLicenseFile(
  text: string,
  pem: string | readonly string[],
  checks: LicenseFileChecks = {},
): Promise<LicenseFileResult> {
  const file = parseFileClaim(text);
  if (file === null) return { valid: false, reason: 'malformed' };
  const fault = await getSignatureFault(pem, file.claim);
  return fault === null ? validateLicensePayload(file.enc, checks) : { valid: false, reason: fault };
}

/** Verifies an answer of `validate`: its signature, and that it matches the request. */
export async function verifyAnswer(
  answer: Readonly<Record<string, unknown>>,
  pems: readonly string[],
  question: LicenseRequest,
): Promise<AnswerResult> {
  const fault = await getSignatureFault(pems, parseAnswerClaim(answer));
  return fault === null ? validateLicenseAnswer(answer, question) : { valid: false, reason: fault };
}
