/**
 * Content of license files (`.lic`) and signed responses of `validate` (contract 50), for Node and
 * browsers; signature verification is platform-specific.
 */
import { encodeBase64, decodeCanonicalBase64 } from './base64.js';
import { formatCanonicalJson, type JsonValue } from './canonical-json.js';

export interface LicensePayload {
  schema: 1;
  license_id: string;
  key_sha256: string;
  key_masked: string;
  product: string;
  licensee: string | null;
  features: Record<string, unknown>;
  issued_at: string;
  not_before: string;
  valid_until: string;
  expires_at: string | null;
  machine_id: string | null;
  cache_ttl_hours: number;
}

/** Reason why a file or response is invalid. */
export type LicenseFault =
  | 'malformed'
  | 'unknown_key'
  | 'wrong_signature'
  | 'unknown_schema'
  | 'not_yet_valid'
  | 'file_expired'
  | 'license_expired'
  | 'wrong_product'
  | 'wrong_machine';

export interface LicenseFileResult {
  valid: boolean;
  payload?: LicensePayload;
  reason?: LicenseFault;
}

export interface LicenseFileChecks {
  product?: string;
  machineId?: string;
  /** Milliseconds since 1970; default: system time. */
  now?: number;
}

const HEAD_LINE = '-----BEGIN LICENSE FILE-----';
const FOOT_LINE = '-----END LICENSE FILE-----';
const LINE_LENGTH = 64;
/** Prefix of the signed bytes of a file; `enc` follows. */
export const LICENSE_FILE_SIGNED_PREFIX = 'aos-lic-v1.';
/** Files are a few kilobytes; features have at most 8 KiB. */
const MAX_LICENSE_TEXT_LENGTH = 256 * 1024;

interface LicenseArmor {
  enc: string;
  sig: string;
  alg: string;
  kid: string;
}

/** Formats a license file. */
export function formatLicenseFile({ enc, sig, alg, kid }: LicenseArmor): string {
  const text = encodeBase64(JSON.stringify({ enc, sig, alg, kid }));
  const lines = text.match(new RegExp(`.{1,${LINE_LENGTH}}`, 'g')) ?? [];
  return [HEAD_LINE, ...lines, FOOT_LINE, ''].join('\n');
}

/** White space, invisible characters, quote marks of mail. */
const SEPARATOR_PATTERN = /[\s>\u00ad\u200b-\u200f\u2060\ufeff]+/g;

/** Surrounding text, blank lines and line width are ignored: the signature protects the content. */
function parseArmor(text: string): LicenseArmor | null {
  if (text.length > MAX_LICENSE_TEXT_LENGTH) return null;
  const start = text.indexOf(HEAD_LINE);
  const end = text.indexOf(FOOT_LINE, start);
  if (start < 0 || end < 0) return null;
  const body = text.slice(start + HEAD_LINE.length, end).replaceAll(SEPARATOR_PATTERN, '');
  const inner = decodeCanonicalBase64(body);
  const parts = inner === null ? null : parseJsonObject(decodeUtf8(inner));
  if (parts === null) return null;
  const { enc, sig, alg, kid } = parts;
  if (![enc, sig, alg, kid].every((part) => typeof part === 'string')) return null;
  const file = { enc, sig, alg, kid } as LicenseArmor;
  return encodeBase64(JSON.stringify(file)) === body ? file : null;
}

function parseJsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

const decodeUtf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** A signature to verify before anything else is trusted. */
export interface SignatureClaim {
  kid: unknown;
  alg: unknown;
  /** Canonical base64; anything else is invalid. */
  signature: unknown;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Returns the claim of a file; null when the text is not a license file. */
export function parseFileClaim(text: string): { claim: SignatureClaim; enc: string } | null {
  const file = parseArmor(text);
  if (file === null) return null;
  const { enc, sig: signature, alg, kid } = file;
  return { enc, claim: { kid, alg, signature, bytes: new TextEncoder().encode(LICENSE_FILE_SIGNED_PREFIX + enc) } };
}

/** The key determines the algorithm, never the document. */
export function resolveClaimKey<Key extends { keyId: string; algorithm: string }>(
  keys: readonly Key[],
  { kid, alg, signature }: SignatureClaim,
): { key: Key; signature: string } | LicenseFault {
  const key = keys.find(({ keyId }) => keyId === kid);
  if (key === undefined) return 'unknown_key';
  return key.algorithm === alg && typeof signature === 'string' ? { key, signature } : 'malformed';
}

/** Validates a file's payload after signature verification. */
export function validateLicensePayload(enc: string, checks: LicenseFileChecks): LicenseFileResult {
  const bytes = decodeCanonicalBase64(enc);
  const payload = bytes === null ? null : parseJsonObject(decodeUtf8(bytes));
  if (payload === null) return { valid: false, reason: 'malformed' };
  if (payload['schema'] !== 1) return { valid: false, reason: 'unknown_schema' };
  const known = payload as unknown as LicensePayload;
  const reason = findPayloadFault(known, checks);
  return reason === null ? { valid: true, payload: known } : { valid: false, payload: known, reason };
}

function findPayloadFault(
  payload: LicensePayload,
  { product, machineId, now = Date.now() }: LicenseFileChecks,
): LicenseFault | null {
  const { not_before, valid_until, expires_at, machine_id } = payload;
  // Invalid times compare as false.
  if (!(Date.parse(not_before) <= now)) return 'not_yet_valid';
  if (!(now < Date.parse(valid_until))) return 'file_expired';
  if (expires_at !== null && !(now < Date.parse(expires_at))) return 'license_expired';
  if (product !== undefined && payload.product !== product) return 'wrong_product';
  if (machineId !== undefined && machine_id !== null && machine_id !== machineId) return 'wrong_machine';
  return null;
}

/**
 * Returns the signed bytes of a `validate` response: every member but `signature`, as RFC 8785
 * JSON.
 */
export function getSignedAnswerBytes(answer: Readonly<Record<string, unknown>>): Uint8Array<ArrayBuffer> {
  const { signature: _signature, ...covered } = answer;
  return new TextEncoder().encode(formatCanonicalJson(covered as { [name: string]: JsonValue }));
}

export const parseAnswerClaim = (answer: Readonly<Record<string, unknown>>): SignatureClaim => {
  const { kid, alg, signature } = answer;
  return { kid, alg, signature, bytes: getSignedAnswerBytes(answer) };
};

/** A response to another request is as invalid as a forged one. */
export interface LicenseRequest {
  keySha256: string;
  product: string;
  machineId?: string | null;
  nonce?: string | null;
}

export interface AnswerResult {
  valid: boolean;
  reason?: LicenseFault | 'wrong_question';
}

/** Validates that a verified response matches the request. */
export function validateLicenseAnswer(
  answer: Readonly<Record<string, unknown>>,
  { keySha256, product, machineId = null, nonce = null }: LicenseRequest,
): AnswerResult {
  const isMatchingQuery =
    answer['key_sha256'] === keySha256 &&
    answer['product'] === product &&
    answer['machine_id'] === machineId &&
    answer['nonce'] === nonce;
  return isMatchingQuery ? { valid: true } : { valid: false, reason: 'wrong_question' };
}
