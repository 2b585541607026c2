import type { Authenticator, Refusal } from '../../../ports/http.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import type { Failure } from '../wire/failure.js';
import { MISSING } from './access-policy.js';
import { Challenge } from './basic.js';

const WHAT: Readonly<Partial<Record<string, Refusal['what']>>> = {
  unauthorized: 'credential',
  insufficient_scope: 'scope',
  role_not_allowed: 'scope',
  csrf_failed: 'csrf',
};

export function tellRefusal(authenticator: Authenticator, failure: Failure, path: string, call: IncomingRequest): void {
  const what = failure === MISSING || failure instanceof Challenge ? undefined : WHAT[failure.code];
  if (what === undefined) return;
  authenticator.refused?.({ what, path, address: call.address, request_id: call.id, principal: call.principal });
}
