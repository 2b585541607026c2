/**
 * Leases: one agent at a time works on an item (contract 20, leases). One statement in the store decides every claim, so
 * with any number of callers and processes exactly one wins.
 *
 * Expiry waits for no job: what ran out is settled before a claim or a list looks, and a reader of one item sees through
 * it. Claim tokens are random and stored only as SHA-256.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { isoOf } from '../../../lib/time.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { Filter } from '../../../ports/store.js';
import type { Caller } from '../caller.js';
import { DEPS, type Deps } from '../deps.js';
import type { ChangeSet } from '../items/change-set.js';
import { Items } from '../items/items.js';
import { DeltaWatermark } from '../items/delta-watermark.js';
import type { ItemDoc, Lease } from '../items/model.js';
import { Outbox } from '../items/outbox.js';
import { SEVERITIES } from '../items/severity.js';
import { allowed } from '../items/transitions.js';
import { EXPIRIES, isLive } from '../items/view.js';

/** A lease ends this long after its claim, however often it is renewed. */
export const LIMIT_MS = 24 * 3_600_000;
const BATCH = 200;

export interface LeaseRequest {
  agent?: string | undefined;
  lease_seconds?: number | undefined;
}

export interface Granted {
  item: Item;
  lease: { claim_token: string; expires_at: string; lease_seconds: number };
}

export const DEFAULT_LEASE_SECONDS = 1800;

const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('hex');

export function isToken(lease: Lease, token: string): boolean {
  return timingSafeEqual(Buffer.from(lease.token_hash, 'hex'), Buffer.from(hashOfToken(token), 'hex'));
}

export const leaseLost = (): ServiceError => new ServiceError('lease_lost', 'This claim_token is not the current one.');

export const alreadyClaimed = (lease: Lease): ServiceError =>
  new ServiceError('already_claimed', 'Another agent holds a live lease on this item.', {
    extra: { claim: { agent: lease.agent, expires_at: lease.expires_at } },
  });

/** From now, but never beyond the limit. */
export function expiryOf(claimedAt: string, now: number, seconds: number): string {
  return isoOf(Math.min(now + seconds * 1000, Date.parse(claimedAt) + LIMIT_MS));
}

/** The lease after a write by its holder: renewed from now; at its limit it stays as it is. */
export function touched(lease: Lease, now: number): Lease {
  const expires_at = expiryOf(lease.claimed_at, now, lease.lease_seconds);
  return expires_at > lease.expires_at ? { ...lease, expires_at } : lease;
}

@injectable()
export class Leases {
  #settling: Promise<void> | null = null;

  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(Items) private readonly items: Items,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(Outbox) private readonly outbox: Outbox,
  ) {}

  /** Fetches and reserves the next item in one step; null when there is none. @param filter of the caller's query */
  async next(caller: Caller, request: LeaseRequest, filter: Filter): Promise<Granted | { item: null }> {
    await this.settle();
    const { items, ids } = this.deps;
    const secret = ids.secret();
    const agent = request.agent ?? soleTarget(filter) ?? caller.name;
    const id = ids.uuid();
    const changed = await this.watermark.write('next', async (stamp, now) => {
      const claim = this.#lease(caller, { ...request, agent }, secret, now);
      const note = {
        id,
        kind: 'activity',
        name: 'claimed',
        at: stamp,
        actor: caller.name,
        data: { agent, by: 'next' },
      };
      return items.change(
        { ...filter, ...servedTo(agent, filter), queue_key: stretchOf(filter) },
        {
          set: { status: 'in_progress', claim: { ...claim }, queue_key: null, outbox_at: `${stamp} ${note.id}` },
          inc: { rev: 1, claim_count: 1 },
          max: { updated_at: stamp },
          push: { outbox: { each: [note] } },
        },
        { sort: [['queue_key', 'asc']] },
      );
    });
    if (changed === null) return { item: null };
    await this.outbox.flush(
      changed.doc,
      changed.doc.outbox.filter((entry) => entry.id === id),
    );
    return this.#granted(changed.doc, secret);
  }

  /** @throws ServiceError not_found, already_claimed, invalid_transition, lease_limit */
  async claim(name: string, caller: Caller, request: LeaseRequest): Promise<Granted> {
    const { id } = await this.items.need(name, caller);
    const secret = this.deps.ids.secret();
    const doc = await this.items.change(id, caller.name, (item, change) => {
      const now = this.deps.clock.now();
      const fresh = this.#lease(caller, request, secret, now);
      if (isLive(item.claim, now)) return this.#reclaim(item.claim, fresh, change, now);
      if (item.status === 'in_progress') planExpiry(item, change);
      if (!allowed(change.next.status, 'in_progress', 'claim')) throw notFrom(item.status, 'in_progress');
      change
        .note('claimed', { agent: fresh.agent })
        .assign({ status: 'in_progress', claim: fresh, claim_count: item.claim_count + 1 });
      // A person or agent that takes what nobody could finish starts the count again.
      if (item.status === 'needs_info') change.assign({ expired_count: 0 });
    });
    return this.#granted(doc, secret);
  }

  /** The same credential and agent gets its lease back: another token, the same claim. */
  #reclaim(held: Lease, fresh: Lease, change: ChangeSet, now: number): void {
    if (held.credential !== fresh.credential || held.agent !== fresh.agent) throw alreadyClaimed(held);
    const expires_at = expiryOf(held.claimed_at, now, fresh.lease_seconds);
    const { token_hash, lease_seconds } = fresh;
    change
      .note('reclaimed', { agent: held.agent })
      .assign({ claim: { ...held, token_hash, lease_seconds, expires_at } });
  }

  /** @throws ServiceError not_found, lease_lost, lease_limit */
  async renew(name: string, caller: Caller, request: LeaseRequest & { claim_token: string }): Promise<Granted> {
    const { id } = await this.items.need(name, caller);
    const doc = await this.items.change(id, caller.name, (item, change) => {
      const now = this.deps.clock.now();
      const held = this.#held(item, request.claim_token, now);
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

  /** Gives the item back. @throws ServiceError not_found, lease_lost */
  async release(name: string, caller: Caller, claimToken: string): Promise<Item> {
    const { id } = await this.items.need(name, caller);
    const doc = await this.items.change(id, caller.name, (item, change) => {
      this.#held(item, claimToken, this.deps.clock.now());
      change.status('open', { why: 'released' });
    });
    return this.items.view(doc);
  }

  /** The live lease of this token. */
  #held(item: ItemDoc, token: string, now: number): Lease {
    const { claim } = item;
    if (claim === null || !isToken(claim, token)) throw leaseLost();
    const live: boolean = isLive(claim, now);
    if (live) return claim;
    throw now >= Date.parse(claim.claimed_at) + LIMIT_MS ? limitReached() : leaseLost();
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
    if (claim === null) throw leaseLost();
    const item = await this.items.view(doc);
    return { item, lease: { claim_token, expires_at: claim.expires_at, lease_seconds: claim.lease_seconds } };
  }

  /** Writes what has run out: before a claim or a list looks, and every minute. Calls at the same time share one run. */
  settle(): Promise<void> {
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = null;
    });
    return this.#settling;
  }

  async #settle(): Promise<void> {
    const { items, clock } = this.deps;
    for (;;) {
      const filter = { 'claim.expires_at': { gt: '', lte: clock.iso() } };
      const page = await items.find({ filter, sort: [['claim.expires_at', 'asc']], limit: BATCH });
      await Promise.all(page.items.map(({ id }) => this.#expire(id)));
      if (page.items.length < BATCH) return;
    }
  }

  async #expire(id: string): Promise<void> {
    await this.items.change(id, 'system', (item, change) => {
      if (item.status === 'in_progress' && !isLive(item.claim, this.deps.clock.now())) planExpiry(item, change);
    });
  }
}

/** The one agent that the query asks for, if any: whoever asks for its items and gives no other name is that agent. */
const soleTarget = ({ target_agent: wanted }: Filter): string | null => (typeof wanted === 'string' ? wanted : null);

/** An item with a `target_agent` goes to that agent alone (contract 20, leases), whatever else the query asks for. */
function servedTo(agent: string, { target_agent: wanted }: Filter): Filter {
  if (wanted === undefined) return { target_agent: { in: [null, agent] } };
  const names = typeof wanted === 'object' && wanted !== null && 'in' in wanted ? (wanted.in ?? []) : [wanted];
  return { target_agent: { in: names.includes(agent) ? [agent] : [] } };
}

/**
 * The stretch of the queue where the asked severities stand, most urgent first: whoever asks for low ones does not walk past
 * all the others (`queueKeyOf` in change-set.ts puts the severity first).
 */
function stretchOf({ severity: wanted }: Filter): { gt: string; lt?: string } {
  const names = typeof wanted === 'object' && wanted !== null && 'in' in wanted ? (wanted.in ?? []) : [wanted];
  const places = SEVERITIES.toReversed().flatMap((severity, place) => (names.includes(severity) ? [place] : []));
  const [first] = places;
  return first === undefined ? { gt: '' } : { gt: String(first), lt: String((places.at(-1) ?? first) + 1) };
}

export const limitReached = (): ServiceError =>
  new ServiceError('lease_limit', 'A lease ends 24 hours after its claim; claim again.');

export const notFrom = (from: string, to: string): ServiceError =>
  new ServiceError('invalid_transition', `An item that is ${from} cannot become ${to} this way.`);

/** A lease that ran out: open again, or, for the fifth time, a matter for a person. */
export function planExpiry(item: ItemDoc, change: ChangeSet): void {
  const expired_count = item.expired_count + 1;
  const to = expired_count >= EXPIRIES ? 'needs_info' : 'open';
  change
    .status(to, { why: 'lease expired', agent: item.claim?.agent ?? null })
    .assign({ expired_count: to === 'open' ? expired_count : 0 });
}
