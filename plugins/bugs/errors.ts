import { refusals, type ErrorCatalog } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';

export const ERRORS = {
  already_claimed: [
    409,
    'The item has a live lease; `error.claim` contains its holder (`yours`: you) and its end.',
    'Someone is working on this',
  ],
  claim_required: [
    409,
    'Over MCP an item can be changed only under the caller’s own live lease: claim it first.',
    'Claim the issue first',
  ],
  lease_lost: [
    409,
    'The `claim_token` is not the current one; `error.why` is `expired`, `released`, `resolved`, `taken`, `overridden` (a person stopped it, `error.reason`) or `unknown`.',
    'Claim lost',
  ],
  on_hold: [
    409,
    'A person has put this item on hold (`error.hold`); no agent can claim it until the hold is lifted.',
    'Agents are paused',
  ],
  too_many_claims: [
    409,
    'This credential and agent has reached the limit of live leases, `bugs.max_claims`.',
    'Too many claims',
  ],
  unread_news: [
    409,
    'A person has commented meanwhile (`error.news`): read it first, then repeat the request.',
    'Unread comment',
  ],
  lease_limit: [409, 'The lease has reached its maximum of 24 hours and cannot be renewed.', 'Claim limit reached'],
} as const satisfies ErrorCatalog;

export const refusal = refusals(ERRORS);

/** @param field path of the missing reason */
export const createReasonRequiredError = (message: string, field = 'reason'): ServiceError =>
  new ServiceError('reason_required', message, { fields: { [field]: 'is required' } });
