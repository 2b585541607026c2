/** What routes and pages have in common when they read a body. */
import { CSRF_FAILED } from '../access/csrf.js';
import type { RequestPlace } from '../limits/in-flight.js';
import type { Failure } from '../wire/failure.js';

/** A slow body is no work at hand, so its request gives its place back while the body arrives. */
export async function idle<T>(place: RequestPlace, reading: () => Promise<T>): Promise<T> {
  place.leave();
  try {
    return await reading();
  } finally {
    place.resume();
  }
}

/** What is wrong with a form that could not be read; a body that is no form has no token. */
export const formFailure = (failure: Failure): Failure =>
  failure.code === 'unsupported_media_type' || failure.code === 'invalid_json' ? CSRF_FAILED : failure;
