/**
 * Leases: one agent at a time works on an item (contract 20, leases). One statement in the store decides every claim,
 * so with any number of callers and processes exactly one wins.
 *
 * Leases that have run out: expiry.ts. Claim tokens are random and stored only as SHA-256.
 */
import { inject, injectable, JsonText } from '../../../kernel/contract.js';
import { isoOf } from '../../../lib/time.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { changeRendered } from '../../../ports/rendering.js';
import type { Filter } from '../../../ports/store.js';
import type { BugCaller } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { refusal } from '../errors.js';
import { claimRequired } from '../item/claim-rule.js';
import { claimUnread, type ChangeSet } from '../item/change-set.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import { Items } from '../store/items.js';
import type { ItemDoc, ClaimLease } from '../item/model.js';
import { SecretGuard } from '../store/secret-guard.js';
import { allowed } from '../item/transitions.js';
import { ITEM_ROW } from '../item/row.js';
import { isLive } from '../item/view.js';
import { Expiry } from './expiry.js';
import {
  alreadyClaimed,
  DEFAULT_LEASE_SECONDS,
  expiryOf,
  hashOfToken,
  holderOf,
  isToken,
  leaseLost,
  LIMIT_MS,
  limitReached,
  MOST_RELEASES,
  notFrom,
  passedBy,
  planExpiry,
} from '../item/lease.js';
import { either, notPassed, servedTo, soleTarget, stretchOf } from '../item/queue.js';

/** How often a claim that finds nothing open looks for leases that ran out and are not written yet. */
const TRIES = 3;

export interface LeaseRequest {
  agent?: string | undefined;
  lease_seconds?: number | undefined;
}

export interface ReleaseRequest {
  claim_token: string;
  reason?: string | null;
  comment?: string | null;
}

/** Which item a claim of the first one has found. */
const claimedId = (fetched: Fetched | null): string | null => fetched && itemOf(fetched).id;

const itemOf = ({ item }: Fetched): Item => item.toJSON() as Item;

export interface Granted {
  item: Item;
  lease: { claim_token: string; expires_at: string; lease_seconds: number };
}

/** The same, the item as JSON, made where it was claimed. */
export interface Fetched {
  item: JsonText;
  lease: Granted['lease'];
}

@injectable()
export class Leases {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
    @inject(Expiry) private readonly expiry: Expiry,
  ) {}

  /** Fetches and reserves the next item in one step. @param filter of the caller's query */
  async next(caller: BugCaller, request: LeaseRequest, filter: Filter): Promise<Granted | { item: null }> {
    const fetched = await this.fetch(caller, request, filter);
    return fetched === null ? { item: null } : { ...fetched, item: itemOf(fetched) };
  }

  /** As `next`; null when there is none. */
  async fetch(caller: BugCaller, request: LeaseRequest, filter: Filter): Promise<Fetched | null> {
    await this.secrets.refuse({ agent: request.agent });
    await this.writeExpired();
    const { items, texts, ids } = this.deps;
    const secret = ids.secret();
    const agent = request.agent ?? soleTarget(filter) ?? caller.name;
    const unfiled = { id: ids.uuid(), actor: caller.name };
    const holder = holderOf({ credential: caller.id, agent });
    const first = (): Promise<Fetched | null> =>
      this.watermark.write(claimedId, async (stamp, now) => {
        const claim = this.#lease(caller, { ...request, agent }, secret, now);
        // The stretch of the queue holds the severity already.
        const queue = { ...filter, severity_rank: undefined, ...servedTo(agent, filter), queue_key: stretchOf(filter) };
        const waiting = either(queue, notPassed(holder, stamp));
        const update = claimUnread(claim, unfiled);
        const rendering = { ...ITEM_ROW, beside: texts, context: now };
        const options = { sort: [['queue_key', 'asc']] } as const;
        const json = await changeRendered(items, waiting, update, rendering, options);
        const { expires_at, lease_seconds } = claim;
        return json === null
          ? null
          : { item: new JsonText(json), lease: { claim_token: secret, expires_at, lease_seconds } };
      });
    const fits = (): Filter =>
      either({ ...filter, ...servedTo(agent, filter), muted: false }, notPassed(holder, this.deps.clock.iso()));
    let fetched = await first();
    for (let tries = 0; fetched === null && tries < TRIES && (await this.expiry.free(fits())); tries++)
      fetched = await first();
    return fetched;
  }

  /** @throws ServiceError not_found, already_claimed, invalid_transition, lease_limit */
  async claim(name: string, caller: BugCaller, request: LeaseRequest): Promise<Granted> {
    const { id } = await this.items.need(name, caller);
    await this.secrets.refuse({ agent: request.agent });
    const secret = this.deps.ids.secret();
    const doc = await this.items.change(id, caller.name, (item, change) => {
      const now = this.deps.clock.now();
      const fresh = this.#lease(caller, request, secret, now);
      if (isLive(item.claim, now)) return this.#reclaim(item.claim, fresh, change, caller, request.agent);
      if (item.status === 'in_progress') planExpiry(item, change);
      if (!allowed(change.next.status, 'in_progress', 'claim')) throw notFrom(item.status, 'in_progress');
      change
        .note('claimed', { agent: fresh.agent })
        .assign({ status: 'in_progress', claim: fresh, claim_count: item.claim_count + 1 });
      // A claim of an item that needed a person starts the count again.
      if (item.status === 'needs_info') change.assign({ expired_count: 0, release_count: 0 });
    });
    return this.#granted(doc, secret);
  }

  /** The same credential and agent gets its lease back: another token, the same claim. */
  #reclaim(held: ClaimLease, fresh: ClaimLease, change: ChangeSet, caller: BugCaller, agent: string | undefined): void {
    if (held.credential !== fresh.credential || held.agent !== fresh.agent) throw alreadyClaimed(held, caller, agent);
    const expires_at = expiryOf(held.claimed_at, Date.parse(fresh.claimed_at), fresh.lease_seconds);
    const { token_hash, lease_seconds } = fresh;
    change
      .note('reclaimed', { agent: held.agent })
      .endLease('taken')
      .assign({ claim: { ...held, token_hash, lease_seconds, expires_at } });
  }

  /** @throws ServiceError not_found, lease_lost, lease_limit */
  async renew(name: string, caller: BugCaller, request: LeaseRequest & { claim_token: string }): Promise<Granted> {
    const { id } = await this.items.need(name, caller);
    const doc = await this.items.change(id, caller.name, (item, change) => {
      const now = this.deps.clock.now();
      const held = this.#held(item, request.claim_token, caller, now);
      const lease_seconds = request.lease_seconds ?? held.lease_seconds;
      const expires_at = expiryOf(held.claimed_at, now, lease_seconds);
      const limit = isoOf(Date.parse(held.claimed_at) + LIMIT_MS);
      if (held.expires_at >= limit && expires_at >= limit) throw limitReached();
      change
        .assign({ claim: { ...held, lease_seconds, expires_at, renewals: held.renewals + 1 } })
        .note('renewed', { expires_at });
    });
    return this.#granted(doc, request.claim_token);
  }

  /**
   * Gives the item back. For 24 hours `action=next` skips it for the holder who released it. The third release without
   * a change of status makes it `needs_info`.
   * @throws ServiceError not_found, lease_lost, lease_limit, claim_required, validation_failed
   */
  async release(name: string, caller: BugCaller, request: ReleaseRequest): Promise<Item> {
    const { id } = await this.items.need(name, caller);
    const { claim_token, comment } = request;
    const reason = request.reason?.trim() || null;
    await this.secrets.refuse({ reason, comment });
    const doc = await this.items.change(id, caller.name, (item, change) => {
      const now = this.deps.clock.now();
      const held = this.#held(item, claim_token, caller, now);
      const releases = (item.release_count ?? 0) + 1;
      const to = releases >= MOST_RELEASES ? 'needs_info' : 'open';
      change
        .status(to, { why: 'released', ...(reason !== null && { reason }), ...(to !== 'open' && { releases }) })
        .assign({ release_count: to === 'open' ? releases : 0, passed: passedBy(item, held, now) });
      if (comment) change.comment(comment);
    });
    return this.items.view(doc);
  }

  /** The live lease of this token. @throws ServiceError lease_lost, lease_limit */
  #held(item: ItemDoc, token: string, caller: BugCaller, now: number): ClaimLease {
    const { claim } = item;
    if (claim === null || !isToken(claim, token)) throw leaseLost(item, token, caller, now);
    const live: boolean = isLive(claim, now);
    // An agent may have been given another's token by a text.
    if (live && caller.by_tool === true && claim.credential !== caller.id) throw claimRequired();
    if (live) return claim;
    throw now >= Date.parse(claim.claimed_at) + LIMIT_MS ? limitReached() : leaseLost(item, token, caller, now);
  }

  #lease(caller: BugCaller, request: LeaseRequest, secret: string, now: number): ClaimLease {
    const lease_seconds = request.lease_seconds ?? DEFAULT_LEASE_SECONDS;
    return {
      agent: request.agent ?? caller.name,
      credential: caller.id,
      token_hash: hashOfToken(secret),
      claimed_at: isoOf(now),
      expires_at: isoOf(now + lease_seconds * 1000),
      renewals: 0,
      lease_seconds,
    };
  }

  async #granted(doc: ItemDoc, claim_token: string): Promise<Granted> {
    const { claim } = doc;
    if (claim === null) throw refusal('lease_lost', 'The lease ended at once.', { extra: { why: 'taken' } });
    const item = await this.items.view(doc);
    return { item, lease: { claim_token, expires_at: claim.expires_at, lease_seconds: claim.lease_seconds } };
  }

  /** Writes which leases have run out: before a claim or a list reads. */
  writeExpired(): Promise<void> {
    return this.expiry.writeExpired();
  }

  /** After `writeExpired`: no lease has run out unwritten. Very many are written behind the answers. */
  get expiredWritten(): boolean {
    return this.expiry.allWritten;
  }
}
