import { refusals, type ErrorCatalog } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';

export const ERRORS = {
  already_claimed: [
    409,
    'A live lease is in the way; `error.claim` says who holds it (`yours`: you do) and until when.',
    'Someone is working on this',
  ],
  claim_required: [
    409,
    'By MCP an item changes only under the caller’s own live lease: claim it first.',
    'Claim the issue first',
  ],
  lease_lost: [
    409,
    'The `claim_token` is not the current one; `error.why` is `expired`, `released`, `resolved`, `taken`, `overridden` (a person stopped it, `error.reason`) or `unknown`.',
    'Claim lost',
  ],
  on_hold: [
    409,
    'A person has stopped the work on this item (`error.hold`); no agent may claim it until the hold is lifted.',
    'Agents are paused',
  ],
  too_many_claims: [
    409,
    'This credential and agent holds as many live leases as `bugs.max_claims` allows.',
    'Too many claims',
  ],
  unread_news: [
    409,
    'A person has commented meanwhile (`error.news`): read it first; the repeat passes.',
    'Unread comment',
  ],
  lease_limit: [409, 'The lease has reached 24 hours in all and cannot be renewed.', 'Claim limit reached'],
} as const satisfies ErrorCatalog;

export const refusal = refusals(ERRORS);

/** @param field path of the missing reason */
export const createReasonRequiredError = (message: string, field = 'reason'): ServiceError =>
  new ServiceError('reason_required', message, { fields: { [field]: 'is required' } });
