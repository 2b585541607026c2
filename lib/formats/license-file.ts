/**
 * Verifies license files and `validate` responses offline (contract 50). The algorithm is the
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
import { isSignedBy, parsePublicKey } from './signature.js';

/** Returns the fault of a signature, or null. */
function findSignatureFault(pems: string | readonly string[], claim: SignatureClaim): LicenseFault | null {
  const named = resolveClaimKey([pems].flat().map(parsePublicKey), claim);
  if (typeof named === 'string') return named;
  return isSignedBy(named.key, claim.bytes, named.signature) ? null : 'wrong_signature';
}

/**
 * Verifies the text of a `.lic`; never throws for its content.
 * @param pem SPKI, PEM: possible public keys
 * @throws KeyRefused for an invalid `pem`
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
 * Verifies signature and request of a `validate` response.
 * @param answer the parsed body
 * @throws KeyRefused for an invalid `pem`
 */
export function verifyLicenseAnswer(
  answer: Readonly<Record<string, unknown>>,
  pem: string | readonly string[],
  question: LicenseRequest,
): AnswerResult {
  const fault = findSignatureFault(pem, parseAnswerClaim(answer));
  return fault === null ? validateLicenseAnswer(answer, question) : { valid: false, reason: fault };
}
