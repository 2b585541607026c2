/**
 * A single conditional write decides every claim. Claim tokens are random; the store holds only
 * their SHA-256.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { toIsoString } from '../../../lib/time.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { getAuthorKind, type BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { refusal } from '../errors.js';
import { createClaimRequiredError } from '../item/claim-rule.js';
import type { ChangeSet } from '../item/change-set.js';
import { ItemService } from '../store/item-service.js';
import type { ItemDoc, ClaimLease, UnreadEntry } from '../item/model.js';
import { LeaseClockAdjuster } from '../store/lease-clock-adjuster.js';
import { SecretGuard } from '../store/secret-guard.js';
import { isTransitionAllowed } from '../item/transitions.js';
import { isBlocked, isHeld, isLeaseLive } from '../item/api-views.js';
import { LeaseExpiryRecorder } from './lease-expiry.js';
import { HandoverBuilder, type Handover } from './handover.js';
import { UnreadEntryReader } from './unread-entries.js';
import { ClaimQuota, type ClaimSlot } from './claim-quota.js';
import {
  resolveAgentName,
  createAlreadyClaimedError,
  computeLeaseExpiry,
  getLeaseHolder,
  createInReviewError,
  matchesToken,
  createClaimLease,
  createLeaseLostError,
  MAX_LEASE_MS,
  createLeaseLimitError,
  MAX_RELEASES,
  createTransitionError,
  createOnHoldError,
  listSkippingHolders,
  planExpiry,
} from '../item/lease.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection } from '../../../ports/store/index.js';

export interface LeaseRequest {
  agent?: string | undefined;
  lease_seconds?: number | undefined;
}

export interface RenewalRequest extends LeaseRequest {
  claim_token: string;
  note?: string | null;
  tokens?: number | null;
}

export interface ReleaseRequest {
  claim_token: string;
  reason?: string | null;
  comment?: string | null;
}

export interface GrantedLease {
  item: Item;
  lease: { claim_token: string; expires_at: string; lease_seconds: number };
}

export interface ClaimResult extends GrantedLease {
  handover: Handover;
  news?: object[];
}

export interface RenewalResult extends GrantedLease {
  news: object[];
}

@injectable()
export class LeaseService {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(ItemService) private readonly items: ItemService,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
    @inject(LeaseExpiryRecorder) private readonly expiry: LeaseExpiryRecorder,
    @inject(ClaimQuota) private readonly quota: ClaimQuota,
    @inject(HandoverBuilder) private readonly handovers: HandoverBuilder,
    @inject(UnreadEntryReader) private readonly news: UnreadEntryReader,
    @inject(LeaseClockAdjuster) private readonly times: LeaseClockAdjuster,
  ) {}

  /**
   * @throws ServiceError not_found, already_claimed, on_hold, too_many_claims, insufficient_scope,
   *   invalid_transition, lease_limit
   */
  async claim(name: string, caller: BugCaller, leaseRequest: LeaseRequest): Promise<ClaimResult> {
    const before = await this.items.get(name, caller);
    const request = { ...leaseRequest, agent: resolveAgentName(caller, leaseRequest.agent) };
    await this.secrets.rejectSecrets({ agent: request.agent });
    const agent = request.agent ?? caller.name;
    const live: ClaimLease | null = isLeaseLive(before.claim, this.clock.now()) ? before.claim : null;
    const own = live?.credential === caller.id && live.agent === agent;
    const claim = (slot: ClaimSlot): Promise<ClaimResult> => this.#claim(before.id, caller, request, slot);
    if (own) return claim({});
    const holder = { credential: caller.id, agent };
    return this.quota.claimWithinQuota({ ...holder, key: getLeaseHolder(holder) }, claim);
  }

  async #claim(id: string, caller: BugCaller, request: LeaseRequest, slot: ClaimSlot): Promise<ClaimResult> {
    let unread: readonly UnreadEntry[] | undefined;
    const secret = this.ids.secret();
    const doc = await this.items.change(id, caller, (item, change) => {
      const now = this.clock.now();
      const fresh = { ...createClaimLease(caller, request, secret, now, this.times.getClockStamp(now)), ...slot };
      change.by = 'holder';
      unread = undefined;
      if (item.claim !== null && !this.times.isExpired(item.claim)) {
        this.#reclaim(item.claim, fresh, change, caller, request.agent);
        unread = change.takeUnread();
        return;
      }
      if (isHeld(item)) throw createOnHoldError(item);
      if (item.status === 'in_progress') planExpiry(item, change);
      if (item.review === 'open') throw createInReviewError();
      if (!isTransitionAllowed(change.next.status, 'in_progress', 'claim'))
        throw createTransitionError(item.status, 'in_progress');
      change
        .addHistoryEntry('claimed', { agent: fresh.agent })
        .assign({ status: 'in_progress', claim: fresh, claim_count: item.claim_count + 1 });
      // After waiting for a user, expiries and releases count from zero.
      if (item.status === 'needs_info') change.assign({ expired_count: 0, release_count: 0 });
    });
    const [granted, handover, news] = await Promise.all([
      this.#toGrantedLease(doc, secret),
      this.handovers.build(doc),
      unread && this.news.listUnread(doc, unread),
    ]);
    return { ...granted, handover, ...(news && { news }) };
  }

  #reclaim(held: ClaimLease, fresh: ClaimLease, change: ChangeSet, caller: BugCaller, agent: string | undefined): void {
    if (held.credential !== fresh.credential || held.agent !== fresh.agent)
      throw createAlreadyClaimedError(held, caller, agent);
    const expires_at = computeLeaseExpiry(held.claimed_at, Date.parse(fresh.claimed_at), fresh.lease_seconds);
    const { token_hash, lease_seconds, epoch, offset } = fresh;
    change
      .addHistoryEntry('reclaimed', { agent: held.agent })
      .endLease('taken')
      .assign({ claim: { ...held, token_hash, lease_seconds, expires_at, epoch, offset } });
  }

  /** @throws ServiceError not_found, lease_lost, lease_limit */
  async renew(name: string, caller: BugCaller, request: RenewalRequest): Promise<RenewalResult> {
    const { id } = await this.items.get(name, caller);
    const note = request.note?.trim() || null;
    const tokens = request.tokens ?? null;
    await this.secrets.rejectSecrets({ note });
    const progress = { ...(note !== null && { note }), ...(tokens !== null && { tokens }) };
    let unread: readonly UnreadEntry[] = [];
    const doc = await this.items.change(id, caller, (item, change) => {
      change.by = 'holder';
      const now = this.clock.now();
      const held = this.#requireLease(item, request.claim_token, caller, now);
      const lease_seconds = request.lease_seconds ?? held.lease_seconds;
      const expires_at = computeLeaseExpiry(held.claimed_at, now, lease_seconds);
      const limit = toIsoString(Date.parse(held.claimed_at) + MAX_LEASE_MS);
      if (held.expires_at >= limit && expires_at >= limit) throw createLeaseLimitError();
      change
        .assign({
          claim: {
            ...held,
            ...progress,
            lease_seconds,
            expires_at,
            renewals: held.renewals + 1,
            ...this.times.getClockStamp(now),
          },
        })
        .addHistoryEntry('renewed', { expires_at, ...progress });
      unread = change.takeUnread();
    });
    return { ...(await this.#toGrantedLease(doc, request.claim_token)), news: await this.news.listUnread(doc, unread) };
  }

  /**
   * For 24 hours `action=next` skips it for the holder who released it, unless another item blocks
   * it. The third release without a change of status sets `needs_info`.
   * @throws ServiceError not_found, lease_lost, lease_limit, claim_required, validation_failed
   */
  async release(name: string, caller: BugCaller, request: ReleaseRequest): Promise<Item> {
    const { id } = await this.items.get(name, caller);
    const { claim_token, comment } = request;
    const reason = request.reason?.trim() || null;
    await this.secrets.rejectSecrets({ reason, comment });
    const doc = await this.items.change(id, caller, (item, change) => {
      const now = this.clock.now();
      const held = this.#requireLease(item, claim_token, caller, now);
      const releases = (item.release_count ?? 0) + 1;
      const to = releases >= MAX_RELEASES ? 'needs_info' : 'open';
      change
        .setStatus(to, { why: 'released', ...(reason !== null && { reason }), ...(to !== 'open' && { releases }) })
        .assign({ release_count: to === 'open' ? releases : 0 });
      // The holder gets the item back when the blocking item is finished.
      if (!isBlocked(item)) change.assign({ passed: listSkippingHolders(item, held, now) });
      if (comment) change.addComment(comment, getAuthorKind(caller));
    });
    return this.items.toView(doc);
  }

  /** @throws ServiceError lease_lost, lease_limit */
  #requireLease(item: ItemDoc, token: string, caller: BugCaller, now: number): ClaimLease {
    const { claim } = item;
    if (claim === null || !matchesToken(claim, token)) throw createLeaseLostError(item, token, caller, now);
    const live: boolean = isLeaseLive(claim, now);
    // Injected text may contain another agent's token.
    if (live && caller.by_tool === true && claim.credential !== caller.id) throw createClaimRequiredError();
    if (live) return claim;
    throw now >= Date.parse(claim.claimed_at) + MAX_LEASE_MS
      ? createLeaseLimitError()
      : createLeaseLostError(item, token, caller, now);
  }

  async #toGrantedLease(doc: ItemDoc, claim_token: string): Promise<GrantedLease> {
    const { claim } = doc;
    if (claim === null) throw refusal('lease_lost', 'The lease ended immediately.', { extra: { why: 'taken' } });
    const item = await this.items.toView(doc);
    return { item, lease: { claim_token, expires_at: claim.expires_at, lease_seconds: claim.lease_seconds } };
  }

  /**
   * Clears the unread entries that the holder has just read. With a shared credential they stay
   * unread, but no longer block a resolution.
   * @param doc as it was read
   */
  async markUnreadShown(doc: ItemDoc, caller: BugCaller): Promise<void> {
    const { claim } = doc;
    const now = this.clock.now();
    if (!isLeaseLive(claim, now) || claim.credential !== caller.id || !claim.unread?.length) return;
    if (caller.agent !== undefined && caller.agent !== claim.agent) return;
    const isShared = caller.agent === undefined && (await this.#isShared(claim, now));
    const { token_hash, unread } = claim;
    await this.items.change(doc.id, caller, (item, change) => {
      const same = item.claim?.token_hash === token_hash && item.claim.unread?.length === unread.length;
      change.by = 'holder';
      if (same && isShared) change.markUnreadShown();
      else if (same) change.takeUnread();
    });
  }

  /** With several agents on one credential, the reader of a response is ambiguous. */
  async #isShared({ credential, agent }: ClaimLease, now: number): Promise<boolean> {
    const others = { 'claim.credential': credential, 'claim.agent': { ne: agent } };
    return (await this.itemRows.count({ 'claim.expires_at': { gt: toIsoString(now) }, ...others })) > 0;
  }

  writeExpired(): Promise<void> {
    return this.expiry.writeExpired();
  }
}
