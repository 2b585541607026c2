import type { BodySender } from '../body/body-reader.js';
import type { IncomingRequest } from '../wire/incoming-request.js';

/** A sub-token is charged to its master (contract 00, limits). */
export function toBodySender(call: IncomingRequest): BodySender {
  const { principal } = call;
  if (principal.kind === 'token') return { key: `token ${principal.parent_id ?? principal.id}`, known: true };
  if (principal.kind === 'session') return { key: `session ${principal.session_id}`, known: true };
  if (principal.kind === 'shared_key') return { key: 'shared key', known: true };
  return { key: call.network, known: false };
}

export const getListenerKey = (call: IncomingRequest): string =>
  call.principal.kind === 'session' ? `account ${call.principal.account_id}` : toBodySender(call).key;

export function getAnonymousNetwork(call: IncomingRequest): string | null {
  const { principal } = call;
  const known = principal.kind === 'basic' ? principal.username !== null : principal.kind !== 'public';
  return known ? null : call.network;
}
