/** Reading of bodies, for routes and pages. */
import { CSRF_FAILED } from '../access/csrf.js';
import type { RequestPlace } from '../limits/in-flight.js';
import type { Failure } from '../wire/failure.js';

/** Gives the request's place back while its body arrives: a slow body is no work at hand. */
export async function idle<T>(place: RequestPlace, reading: () => Promise<T>): Promise<T> {
  place.leave();
  try {
    return await reading();
  } finally {
    place.resume();
  }
}

/** The refusal of a form that could not be read. A body that is no form has no token, so it fails the token check. */
export const formFailure = (failure: Failure): Failure =>
  failure.code === 'unsupported_media_type' || failure.code === 'invalid_json' ? CSRF_FAILED : failure;
