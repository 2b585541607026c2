import { refusals, type ErrorCatalog } from '../../kernel/contract.js';
import { ServiceError } from '../../kernel/errors.js';

export const ERRORS = {
  already_claimed: [
    409,
    'A live lease is in the way; `error.claim` says who holds it (`yours`: you do) and until when.',
    'Somebody is working on it',
  ],
  claim_required: [
    409,
    'By MCP an item changes only under the caller’s own live lease: claim it first.',
    'It must be claimed first',
  ],
  lease_lost: [
    409,
    'The `claim_token` is not the current one; `error.why` is `expired`, `released`, `resolved`, `taken`, `overridden` (a person stopped it, `error.reason`) or `unknown`.',
    'The claim is lost',
  ],
  on_hold: [
    409,
    'A person has stopped the work on this item (`error.hold`); no agent may claim it until the hold is lifted.',
    'It is on hold',
  ],
  too_many_claims: [
    409,
    'This credential and agent holds as many live leases as `bugs.max_claims` allows.',
    'Too many claims at once',
  ],
  unread_news: [
    409,
    'A person has commented meanwhile (`error.news`): read it first; the repeat passes.',
    'There is a comment to read first',
  ],
  lease_limit: [409, 'The lease has reached 24 hours in all and cannot be renewed.', 'The claim has reached its end'],
} as const satisfies ErrorCatalog;

export const refusal = refusals(ERRORS);

/** @param field path in the body of the missing reason */
export const createReasonRequiredError = (message: string, field = 'reason'): ServiceError =>
  new ServiceError('reason_required', message, { fields: { [field]: 'is required' } });
