/** CSRF tokens, bound to the visitor's cookie (contract 10, web session). */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Authenticator } from '../../../ports/http/index.js';
import { Failure } from '../wire/failure.js';

export const SESSION_COOKIE = 'svc_session';
/** Protects the login form too. */
export const ANONYMOUS_COOKIE = 'svc_anon';
export const ANONYMOUS_ID_PATTERN = /^[A-Za-z0-9]{43}$/;

export const CSRF_FAILED = new Failure(
  'csrf_failed',
  'The form’s `csrf_token` is missing or stale. Reload the page and submit the form again.',
);

const computeDigest = (text: string): Buffer => createHash('sha256').update(text).digest();

const DIGEST_BYTES = 32;
const MASKED_TOKEN_PATTERN = /^[\w-]{86}$/;
const xorBuffers = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((byte, i) => byte ^ (b[i] as number)));

/** Differs in every response, so that compressed pages reveal nothing (BREACH). */
export function maskToken(token: string): string {
  if (token === '') return '';
  const pad = randomBytes(DIGEST_BYTES);
  return Buffer.concat([pad, xorBuffers(computeDigest(token), pad)]).toString('base64url');
}

function toDigest(given: string): Buffer {
  if (!MASKED_TOKEN_PATTERN.test(given)) return computeDigest(given);
  const bytes = Buffer.from(given, 'base64url');
  return xorBuffers(bytes.subarray(0, DIGEST_BYTES), bytes.subarray(DIGEST_BYTES));
}

export function isValidCsrfToken(
  authenticator: Authenticator,
  given: unknown,
  cookies: readonly (string | undefined)[],
): boolean {
  if (typeof given !== 'string' || given === '' || given.length > 512) return false;
  const mark = toDigest(given);
  let matches = false;
  for (const cookie of cookies) {
    if (cookie && timingSafeEqual(mark, computeDigest(authenticator.getCsrfToken(cookie)))) matches = true;
  }
  return matches;
}
