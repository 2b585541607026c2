import { hash, timingSafeEqual } from 'node:crypto';
import { denied, ServiceError } from '../../../kernel/errors.js';
import { HOUR_MS, toIsoString } from '../../../lib/time.js';
import type { ItemStatus } from '../../../ports/domain/bugs.js';
import type { BugCaller } from '../caller.js';
import { hashWithinProject } from './document-ids.js';
import { refusal } from '../errors.js';
import type { ChangeSet } from './change-set.js';
import type { ItemDoc, ClaimLease, LeaseEnd, LeaseClockStamp } from './model.js';
import { isTransitionAllowed, STATUSES } from './transitions.js';
import { MAX_LEASE_EXPIRIES, isLeaseLive } from './api-views.js';

/** From its claim, regardless of renewals. */
export const MAX_LEASE_MS = 24 * HOUR_MS;
export const DEFAULT_LEASE_SECONDS = 1800;

/** The third release without a change of status sets `needs_info`. */
export const MAX_RELEASES = 3;
const SKIP_AFTER_RELEASE_MS = 24 * HOUR_MS;
const MAX_SKIPPING_HOLDERS = 50;

export const hashClaimToken = (token: string): string => hash('sha256', token);

export function matchesToken(lease: ClaimLease, token: string): boolean {
  return timingSafeEqual(Buffer.from(lease.token_hash, 'hex'), Buffer.from(hashClaimToken(token), 'hex'));
}

export function computeLeaseExpiry(claimedAt: string, now: number, seconds: number): string {
  return toIsoString(Math.min(now + seconds * 1000, Date.parse(claimedAt) + MAX_LEASE_MS));
}

export function renewLease(lease: ClaimLease, now: number, mark: LeaseClockStamp): ClaimLease {
  const expires_at = computeLeaseExpiry(lease.claimed_at, now, lease.lease_seconds);
  return expires_at > lease.expires_at ? { ...lease, expires_at, ...mark } : lease;
}

export const getLeaseHolder = ({ credential, agent }: Pick<ClaimLease, 'credential' | 'agent'>): string =>
  hashWithinProject(credential, agent);

export function listSkippingHolders(item: ItemDoc, lease: ClaimLease, now: number): { [holder: string]: string } {
  const others = Object.entries(item.passed ?? {}).filter(([, until]) => until > toIsoString(now));
  return Object.fromEntries([
    ...others.slice(1 - MAX_SKIPPING_HOLDERS),
    [getLeaseHolder(lease), toIsoString(now + SKIP_AFTER_RELEASE_MS)],
  ]);
}

/** Reopens the item, or sets `needs_info` at the fifth expiry. */
export function planExpiry(item: ItemDoc, change: ChangeSet): void {
  const expired_count = item.expired_count + 1;
  const to = expired_count >= MAX_LEASE_EXPIRIES ? 'needs_info' : 'open';
  change
    .setStatus(to, { why: 'lease expired', agent: item.claim?.agent ?? null }, 'expired')
    .assign({ expired_count: to === 'open' ? expired_count : 0 });
}

/** @param agent if undefined, only the credential is compared */
const toClaimDetails = (lease: ClaimLease, caller: BugCaller, agent?: string): object => ({
  agent: lease.agent,
  expires_at: lease.expires_at,
  yours: lease.credential === caller.id && (agent === undefined || lease.agent === agent),
});

export function createAlreadyClaimedError(lease: ClaimLease, caller: BugCaller, agent?: string): ServiceError {
  const claim = toClaimDetails(lease, caller, agent);
  const message =
    lease.credential === caller.id && agent === undefined
      ? 'Your own lease on this item is live: send its `claim_token`, or claim again to get a new one.'
      : 'Another agent holds a live lease on this item. Take another item, or wait until `claim.expires_at`.';
  return refusal('already_claimed', message, { extra: { claim } });
}

const LEASE_END_MESSAGES: Record<LeaseEnd | 'unknown', string> = {
  expired: 'The lease expired. Claim the item again to continue.',
  released: 'The item was released. Claim it again to continue.',
  resolved:
    'The item was resolved, closed or set aside, which ended the lease. To correct your own resolve, send it without a claim_token.',
  overridden: 'A person has put the item on hold. Stop, and take another one.',
  taken: 'Another caller has the item, or you claimed it again. Send your newest token, or stop and take another item.',
  unknown: 'It was not issued for this item. Claim the item, and send the token of that response.',
};

function findLossReason(item: ItemDoc, token: string, now: number): { why: LeaseEnd | 'unknown'; reason?: string } {
  const token_hash = hashClaimToken(token);
  const current = item.claim?.token_hash === token_hash;
  const ended = item.ended_leases?.findLast((one) => one.token_hash === token_hash);
  const end = current ? 'expired' : ended?.why;
  if (end === undefined) return { why: 'unknown' };
  if (end === 'expired' && !current && isLeaseLive(item.claim, now)) return { why: 'taken' };
  return { why: end, ...(!current && ended?.reason !== undefined && { reason: ended.reason }) };
}

export function createLeaseLostError(item: ItemDoc, token: string, caller: BugCaller, now: number): ServiceError {
  const { why, reason } = findLossReason(item, token, now);
  const live: ClaimLease | null = isLeaseLive(item.claim, now) ? item.claim : null;
  return refusal('lease_lost', `This claim_token is not the current one. ${LEASE_END_MESSAGES[why]}`, {
    extra: {
      why,
      ...(reason !== undefined && { reason }),
      ...(live !== null && { claim: toClaimDetails(live, caller) }),
    },
  });
}

export const createOnHoldError = ({ held }: Pick<ItemDoc, 'held'>): ServiceError =>
  refusal('on_hold', 'A person has put this item on hold; take another one.', {
    extra: { hold: held ?? null },
  });

/**
 * @param requestedAgent the name that the caller gave
 * @throws ServiceError insufficient_scope for a name other than the token's
 */
export function resolveAgentName(caller: BugCaller, requestedAgent: string | undefined): string | undefined {
  if (caller.agent !== undefined && requestedAgent !== undefined && requestedAgent !== caller.agent)
    throw denied(`This token can claim only as ${caller.agent}.`);
  return caller.agent ?? requestedAgent;
}

export function createClaimLease(
  caller: BugCaller,
  request: { agent?: string | undefined; lease_seconds?: number | undefined },
  secret: string,
  now: number,
  mark: LeaseClockStamp,
): ClaimLease {
  const lease_seconds = request.lease_seconds ?? DEFAULT_LEASE_SECONDS;
  return {
    agent: request.agent ?? caller.name,
    credential: caller.id,
    token_hash: hashClaimToken(secret),
    claimed_at: toIsoString(now),
    expires_at: toIsoString(now + lease_seconds * 1000),
    renewals: 0,
    lease_seconds,
    ...mark,
  };
}

export const createLeaseLimitError = (): ServiceError =>
  refusal('lease_limit', 'A lease ends 24 hours after its claim; claim again.');

export const createTransitionError = (from: ItemStatus, to: ItemStatus): ServiceError =>
  new ServiceError(
    'invalid_transition',
    `The status cannot change from ${formatStatus(from)} to ${formatStatus(to)} this way. ${describeTransitions(from, to)}`,
  );

function describeTransitions(from: ItemStatus, to: ItemStatus): string {
  if (to === 'in_progress' && isTransitionAllowed(from, to, 'claim')) return 'Claim it, or take it with `next`.';
  const targets = STATUSES.filter((status) => isTransitionAllowed(from, status, 'patch'));
  const also = isTransitionAllowed(from, 'in_progress', 'claim') ? ', or be claimed' : '';
  return `It can become ${targets.map(formatStatus).join(', ')}${also}.`;
}

export const createInReviewError = (): ServiceError =>
  new ServiceError(
    'invalid_transition',
    'It is resolved by an open pull request. Take another item: if the pull request is closed without a merge, this item reopens.',
  );

const formatStatus = (status: string): string => (status === 'wont_fix' ? 'won’t fix' : status.replaceAll('_', ' '));
