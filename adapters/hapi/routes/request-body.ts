import { CSRF_FAILED } from '../access/csrf.js';
import type { RequestSlot } from '../limits/requests-in-flight.js';
import type { Failure } from '../wire/failure.js';

/** Releases the request's slot while its body arrives, because a slow body is no active work. */
export async function releaseWhileReading<T>(place: RequestSlot, reading: () => Promise<T>): Promise<T> {
  place.release();
  try {
    return await reading();
  } finally {
    place.resume();
  }
}

/**
 * Converts the failure of an unreadable form. A body that is not a form has no token, so it fails
 * the CSRF check.
 */
export const toFormFailure = (failure: Failure): Failure =>
  failure.code === 'unsupported_media_type' || failure.code === 'invalid_json' ? CSRF_FAILED : failure;
