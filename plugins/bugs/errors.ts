/** The error codes of the bug tracker (contract 20, leases). */
import { refusals, type Catalogue } from '../../kernel/contract.js';

export const ERRORS = {
  already_claimed: [
    409,
    'A live lease is in the way; `error.claim` says who holds it (`yours`: you do) and until when.',
  ],
  claim_required: [409, 'By MCP an item changes only under the caller’s own live lease: claim it first.'],
  lease_lost: [
    409,
    'The `claim_token` is not the current one; `error.why` is `expired`, `released`, `resolved`, `taken`, `overridden` (a person stopped it, `error.reason`) or `unknown`.',
  ],
  on_hold: [
    409,
    'A person has stopped the work on this item (`error.hold`); no agent may claim it until the hold is lifted.',
  ],
  too_many_claims: [409, 'This credential and agent holds as many live leases as `bugs.max_claims` allows.'],
  unread_news: [409, 'A person has commented meanwhile (`error.news`): read it first; the repeat passes.'],
  lease_limit: [409, 'The lease has reached 24 hours in all and cannot be renewed.'],
} as const satisfies Catalogue;

export const refusal = refusals(ERRORS);
