/**
 * CSRF tokens: each is bound to the visitor's cookie and proves that a form came from a page of
 * this service (contract 10, web session).
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Authenticator } from '../../../ports/http.js';
import { Failure } from '../wire/failure.js';

export const SESSION_COOKIE = 'svc_session';
/** Cookie of visitors without a session, which protects the login form too. */
export const ANON_COOKIE = 'svc_anon';
export const ANON_SHAPE = /^[A-Za-z0-9]{43}$/;

export const CSRF_FAILED = new Failure(
  'csrf_failed',
  'The form’s `csrf_token` is missing or stale. Load the page again and send the form once more.',
);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const BYTES = 32;
const MASKED = /^[\w-]{86}$/;
const xor = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((byte, i) => byte ^ (b[i] as number)));

/**
 * Masks a form token with a random pad, so that it differs in every response. Compressed pages then
 * reveal nothing about the token (BREACH).
 */
export function masked(token: string): string {
  if (token === '') return '';
  const pad = randomBytes(BYTES);
  return Buffer.concat([pad, xor(digest(token), pad)]).toString('base64url');
}

function markOf(given: string): Buffer {
  if (!MASKED.test(given)) return digest(given);
  const bytes = Buffer.from(given, 'base64url');
  return xor(bytes.subarray(0, BYTES), bytes.subarray(BYTES));
}

export function csrfMatches(
  authenticator: Authenticator,
  given: unknown,
  cookies: readonly (string | undefined)[],
): boolean {
  if (typeof given !== 'string' || given === '' || given.length > 512) return false;
  const mark = markOf(given);
  let matches = false;
  for (const cookie of cookies) {
    if (cookie && timingSafeEqual(mark, digest(authenticator.csrf(cookie)))) matches = true;
  }
  return matches;
}
