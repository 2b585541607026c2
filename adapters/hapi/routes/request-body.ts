/** What routes and pages have in common when they read a body. */
import { CSRF_FAILED } from '../access/csrf.js';
import type { Sender } from '../body/body-reader.js';
import type { Failure } from '../wire/failure.js';
import type { Place } from '../limits/in-flight.js';
import type { IncomingRequest } from '../wire/incoming-request.js';

/** Whose budgets and buckets a request is charged to; a sub-token's are its master's (contract 00, limits). */
export function senderOf(call: IncomingRequest): Sender {
  const { principal } = call;
  if (principal.kind === 'token') return { key: `token ${principal.parent_id ?? principal.id}`, known: true };
  if (principal.kind === 'session') return { key: `session ${principal.session_id}`, known: true };
  if (principal.kind === 'shared_key') return { key: 'shared key', known: true };
  return { key: call.network, known: false };
}

/** Whose event streams are counted together. */
export const listenerOf = (call: IncomingRequest): string =>
  call.principal.kind === 'session' ? `account ${call.principal.account_id}` : senderOf(call).key;

/** A slow body is no work at hand, so its request gives its place back while it arrives. */
export async function idle<T>(place: Place, reading: () => Promise<T>): Promise<T> {
  place.leave();
  try {
    return await reading();
  } finally {
    place.resume();
  }
}

/** What is wrong with a form that could not be read; one that is no form has no token. */
export const formFailure = (failure: Failure): Failure =>
  failure.code === 'unsupported_media_type' || failure.code === 'invalid_json' ? CSRF_FAILED : failure;
