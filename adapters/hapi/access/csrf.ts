/**
 * Proof that a form came from our own page: the token that belongs to the visitor's cookie (contract 10, web session).
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Authenticator } from '../../../ports/http.js';
import { Failure } from '../wire/failure.js';

export const SESSION_COOKIE = 'svc_session';
/** The cookie of visitors without a session: the login form is protected too. */
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
 * A form token as a page shows it: a random pad, and the token's digest under this pad. The 86 characters differ in
 * every answer, so a page may be compressed: its length says nothing about the token (the BREACH attack).
 */
export function masked(token: string): string {
  if (token === '') return '';
  const pad = randomBytes(BYTES);
  return Buffer.concat([pad, xor(digest(token), pad)]).toString('base64url');
}

/** The digest of the token behind `given`, which is masked or as the authenticator made it. */
function markOf(given: string): Buffer {
  if (!MASKED.test(given)) return digest(given);
  const bytes = Buffer.from(given, 'base64url');
  return xor(bytes.subarray(0, BYTES), bytes.subarray(BYTES));
}

/** Whether `given` is the token of one of these cookie values; constant time. */
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
