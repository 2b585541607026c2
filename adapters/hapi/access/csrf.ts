/** Proof that a form came from our own page: the token that belongs to the visitor's cookie (contract 10, web session). */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Authenticator } from '../../../ports/http.js';
import { Failure } from '../errors/failure.js';

export const SESSION_COOKIE = 'svc_session';
/** Of visitors without a session: the login form is protected too. */
export const ANON_COOKIE = 'svc_anon';
export const ANON_SHAPE = /^[A-Za-z0-9]{43}$/;

export const CSRF_FAILED = new Failure(
  'csrf_failed',
  'The form’s `csrf_token` is missing or stale. Load the page again and send the form once more.',
);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whether `given` is the token of one of these cookie values; constant time. */
export function csrfMatches(
  authenticator: Authenticator,
  given: unknown,
  cookies: readonly (string | undefined)[],
): boolean {
  if (typeof given !== 'string' || given === '' || given.length > 512) return false;
  const mark = digest(given);
  let matches = false;
  for (const cookie of cookies) {
    if (cookie && timingSafeEqual(mark, digest(authenticator.csrf(cookie)))) matches = true;
  }
  return matches;
}
