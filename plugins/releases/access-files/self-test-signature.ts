/**
 * Marks requests of the self-test, so that their expected denials stay out of the audit log. Proves
 * nothing else: the guard decides as for everyone.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { MINUTE_MS } from '../../../lib/time.js';

export const SELF_TEST_HEADER = 'x-aos-selftest';

/** @param path with a leading slash */
export const signSelfTest = (key: Buffer, path: string, now: number): string =>
  createHmac('sha256', key)
    .update(`${Math.floor(now / MINUTE_MS)}\n${path}`)
    .digest('base64url');

/** Accepts signatures of this and the previous minute, of any process of this service. */
export function isSelfTest(key: Buffer, path: string, now: number, given: string | undefined): boolean {
  if (given === undefined) return false;
  const text = Buffer.from(given);
  return [now, now - MINUTE_MS].some((at) => {
    const expected = Buffer.from(signSelfTest(key, path, at));
    return text.length === expected.length && timingSafeEqual(text, expected);
  });
}
