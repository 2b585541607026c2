import type { Authenticator, RequestRejection } from '../../../ports/http/index.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import type { Failure } from '../wire/failure.js';
import { CREDENTIAL_MISSING } from './access-policy.js';
import { ChallengeFailure } from './basic.js';

const DENIAL_KINDS: Readonly<Partial<Record<string, RequestRejection['what']>>> = {
  unauthorized: 'credential',
  insufficient_scope: 'scope',
  role_not_allowed: 'scope',
  csrf_failed: 'csrf',
};

export function reportDenial(
  authenticator: Authenticator,
  failure: Failure,
  path: string,
  call: IncomingRequest,
): void {
  const what =
    failure === CREDENTIAL_MISSING || failure instanceof ChallengeFailure ? undefined : DENIAL_KINDS[failure.code];
  if (what === undefined) return;
  authenticator.recordRejection?.({
    what,
    path,
    address: call.address,
    request_id: call.id,
    principal: call.principal,
  });
}
