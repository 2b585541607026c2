/**
 * License files (`.lic`) and signed answers of `validate`, verified without the server (contract 50). A verifier
 * holds public keys alone. Nothing of a file is believed before its signature was verified, and the algorithm is the
 * key's, never the file's.
 */
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
} from './license-text.js';
import { isSignedBy, readPublicKey } from './signature.js';

/** The fault of a signature; null for a right one. */
function findSignatureFault(pems: string | readonly string[], claim: SignatureClaim): LicenseFault | null {
  const named = resolveClaimKey([pems].flat().map(readPublicKey), claim);
  if (typeof named === 'string') return named;
  return isSignedBy(named.key, claim.bytes, named.signature) ? null : 'wrong_signature';
}

/**
 * Verifies the text of a `.lic`. Never throws for a file, however it was changed.
 * @param pem SPKI, PEM: one public key, or those that may have signed
 * @throws KeyRefused when a `pem` is no public key
 */
export function verifyLicenseFile(
  text: string,
  pem: string | readonly string[],
  checks: LicenseFileChecks = {},
): LicenseFileResult {
  const file = parseFileClaim(text);
  if (file === null) return { valid: false, reason: 'malformed' };
  const fault = findSignatureFault(pem, file.claim);
  return fault === null ? validateLicensePayload(file.enc, checks) : { valid: false, reason: fault };
}

/**
 * Verifies an answer of `validate`: its signature, and that it answers this question.
 * @param answer the parsed body
 * @throws KeyRefused when a `pem` is no public key
 */
export function verifyLicenseAnswer(
  answer: Readonly<Record<string, unknown>>,
  pem: string | readonly string[],
  question: LicenseRequest,
): AnswerResult {
  const fault = findSignatureFault(pem, parseAnswerClaim(answer));
  return fault === null ? validateLicenseAnswer(answer, question) : { valid: false, reason: fault };
}
