/**
 * Leases: one agent at a time works on an item (contract 20, leases). One statement in the store decides every claim, so
 * with any number of callers and processes exactly one wins.
 *
 * Expiry does not wait for a job: expired leases are written before a claim or a list reads, and a reader of one item
 * ignores them. Claim tokens are random and stored only as SHA-256.
 */
import { inject, injectable, JsonText } from '../../../kernel/contract.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { isoOf } from '../../../lib/time.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { Filter, Page, Sort } from '../../../ports/store.js';
import type { Caller } from '../caller.js';
import { DEPS, type Deps } from '../deps.js';
import { refusal } from '../errors.js';
import { claimRequired } from '../items/claim-rule.js';
import { claimUnread, type ChangeSet } from '../items/change-set.js';
import { DeltaWatermark } from '../items/delta-watermark.js';
import { Items } from '../items/items.js';
import type { ItemDoc, Lease } from '../items/model.js';
import { SecretGuard } from '../items/secret-guard.js';
import { allowed } from '../items/transitions.js';
import { ITEM_ROW } from '../items/row.js';
import { isLive } from '../items/view.js';
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
} from './lease.js';
import { either, notPassed, servedTo, soleTarget, stretchOf } from './queue.js';

const BATCH = 200;
/** The shortest lease, `lease_seconds` 60. */
const SHORTEST_MS = 60_000;

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
  readonly #settling = new SingleFlight<void>();
  /** Between these times no lease runs out that is not written, in ms. */
  #settled = { from: 0, until: 0 };

  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(Items) private readonly items: Items,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
  ) {}

  /** Fetches and reserves the next item in one step. @param filter of the caller's query */
  async next(caller: Caller, request: LeaseRequest, filter: Filter): Promise<Granted | { item: null }> {
    const fetched = await this.fetch(caller, request, filter);
    return fetched === null ? { item: null } : { ...fetched, item: itemOf(fetched) };
  }

  /** As `next`; null when there is none. */
  async fetch(caller: Caller, request: LeaseRequest, filter: Filter): Promise<Fetched | null> {
    await this.secrets.refuse({ agent: request.agent });
    await this.settle();
    const { items, texts, ids } = this.deps;
    const secret = ids.secret();
    const agent = request.agent ?? soleTarget(filter) ?? caller.name;
    const noted = { id: ids.uuid(), actor: caller.name };
    return this.watermark.write(claimedId, async (stamp, now) => {
      const claim = this.#lease(caller, { ...request, agent }, secret, now);
      // The stretch of the queue holds the severity already.
      const queue = { ...filter, severity_rank: undefined, ...servedTo(agent, filter), queue_key: stretchOf(filter) };
      const waiting = either(queue, notPassed(holderOf(claim), stamp));
      const update = claimUnread(claim, noted);
      const rendering = { module: ITEM_ROW, beside: texts, context: now };
      const options = { sort: [['queue_key', 'asc']], settled: true } as const;
      const json = await items.changeRendered(waiting, update, rendering, options);
      const { expires_at, lease_seconds } = claim;
      return json === null
        ? null
        : { item: new JsonText(json), lease: { claim_token: secret, expires_at, lease_seconds } };
    });
  }

  /** @throws ServiceError not_found, already_claimed, invalid_transition, lease_limit */
  async claim(name: string, caller: Caller, request: LeaseRequest): Promise<Granted> {
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
  #reclaim(held: Lease, fresh: Lease, change: ChangeSet, caller: Caller, agent: string | undefined): void {
    if (held.credential !== fresh.credential || held.agent !== fresh.agent) throw alreadyClaimed(held, caller, agent);
    const expires_at = expiryOf(held.claimed_at, Date.parse(fresh.claimed_at), fresh.lease_seconds);
    const { token_hash, lease_seconds } = fresh;
    change
      .note('reclaimed', { agent: held.agent })
      .endLease('taken')
      .assign({ claim: { ...held, token_hash, lease_seconds, expires_at } });
  }

  /** @throws ServiceError not_found, lease_lost, lease_limit */
  async renew(name: string, caller: Caller, request: LeaseRequest & { claim_token: string }): Promise<Granted> {
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
   * Gives the item back. For 24 hours `action=next` skips it for the holder who released it. The third release without a
   * change of status makes it `needs_info`.
   * @throws ServiceError not_found, lease_lost, lease_limit, claim_required, validation_failed
   */
  async release(name: string, caller: Caller, request: ReleaseRequest): Promise<Item> {
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
  #held(item: ItemDoc, token: string, caller: Caller, now: number): Lease {
    const { claim } = item;
    if (claim === null || !isToken(claim, token)) throw leaseLost(item, token, caller, now);
    const live: boolean = isLive(claim, now);
    // An agent may have been given another's token by a text.
    if (live && caller.by_tool === true && claim.credential !== caller.id) throw claimRequired();
    if (live) return claim;
    throw now >= Date.parse(claim.claimed_at) + LIMIT_MS ? limitReached() : leaseLost(item, token, caller, now);
  }

  #lease(caller: Caller, request: LeaseRequest, secret: string, now: number): Lease {
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

  /** Writes expired leases: before a claim or a list reads, and in the job every 30 s. Parallel calls share one run. */
  async settle(): Promise<void> {
    const now = this.deps.clock.now();
    if (now >= this.#settled.from && now < this.#settled.until) return;
    await this.#settling.share('', () => this.#settle());
  }

  /**
   * Then no lease can run out before the next one does: those that are made or renewed meanwhile, in whatever process, last a
   * minute at least, half of which is left for clocks that differ and writes that take time.
   */
  async #settle(): Promise<void> {
    const { items, clock } = this.deps;
    const sort: Sort = [['claim.expires_at', 'asc']];
    const endingAt = (bounds: { gt: string; lte?: string }, limit: number): Promise<Page<ItemDoc>> =>
      items.find({ filter: { 'claim.expires_at': bounds }, sort, limit });
    let from: number;
    let page: Page<ItemDoc>;
    do {
      from = clock.now();
      page = await endingAt({ gt: '', lte: isoOf(from) }, BATCH);
      await Promise.all(page.items.map(({ id }) => this.#expire(id)));
    } while (page.items.length === BATCH);
    const [next] = (await endingAt({ gt: isoOf(from) }, 1)).items;
    const ends = Date.parse(next?.claim?.expires_at ?? '') || Infinity;
    this.#settled = { from, until: Math.min(ends, from + SHORTEST_MS / 2) };
  }

  async #expire(id: string): Promise<void> {
    await this.items.change(id, 'system', (item, change) => {
      if (item.status === 'in_progress' && !isLive(item.claim, this.deps.clock.now())) planExpiry(item, change);
    });
  }
}
