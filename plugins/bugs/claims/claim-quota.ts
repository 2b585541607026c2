/**
 * Limits the live leases of a credential and agent (contract 20, leases: `bugs.max_claims`).
 *
 * A process caches the count, so a claim needs no extra read; the count is refreshed before a claim
 * is rejected, and periodically. With several processes, each lease takes a slot: a number below
 * the limit, unique per holder in the store. A taken slot rejects the write, and the claim tries
 * another. The write that ends the lease frees the slot. A stored counter was rejected: every end
 * of a lease would need a second write.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { ServiceError } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { toIsoString } from '../../../lib/time.js';
import { StoreConflict, type Filter, type Collection } from '../../../ports/store/index.js';
import { DEPS, type BugsConfig } from '../deps.js';
import { refusal } from '../errors.js';
import type { ClaimLease, ItemDoc } from '../item/model.js';
import { WriteCommitter } from '../store/write-committer.js';
import { LeaseClockAdjuster } from '../store/lease-clock-adjuster.js';
import { LeaseExpiryRecorder } from './lease-expiry.js';
import type { Clock } from '../../../ports/clock.js';

const SHARED_COUNT_TTL_MS = 1_000;
const SINGLE_COUNT_TTL_MS = 60_000;
const MAX_HOLDERS = 10_000;

const PAGE_SIZE = 1_000;
const MAX_RECOUNTS = 3;
const SLOT_INDEX = 'claim.slot';

interface LeaseCount {
  at: number;
  most: number;
  taken: Set<number>;
}

export type ClaimSlot = Pick<ClaimLease, 'slot'>;

class NoFreeSlotError extends Error {
  override name = 'NoPlace';
}

interface LeaseHolder {
  key: string;
  credential: string;
  agent: string;
}

@injectable()
export class ClaimQuota {
  readonly #held = new BoundedMap<LeaseCount>({ most: MAX_HOLDERS });
  readonly #pendingCounts = new Map<string, Promise<LeaseCount>>();
  readonly #pendingClaims = new Map<string, Set<Promise<unknown>>>();

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.config) private readonly config: BugsConfig,
    @inject(DEPS.random) private readonly random: () => number,
    @inject(LeaseClockAdjuster) private readonly times: LeaseClockAdjuster,
    @inject(LeaseExpiryRecorder) private readonly expiry: LeaseExpiryRecorder,
    @inject(WriteCommitter) private readonly commit: WriteCommitter,
  ) {}

  /**
   * If pending claims hold the last slots, waits for their outcome.
   * @param claim returns null if nothing was claimed, which frees the slot, as an exception does
   * @throws ServiceError too_many_claims
   */
  async claimWithinQuota<T>(holder: LeaseHolder, claim: (slot: ClaimSlot) => Promise<T>): Promise<T> {
    const { max_claims: most } = this.config;
    const { key } = holder;
    for (let looks = 0; ;) {
      const held = this.#getFreshCount(key, most) ?? (await this.#countOnce(holder));
      if (held.most < most) {
        try {
          return await this.#trackClaim(key, held, () => this.#claimSlot(key, held, most, claim));
        } catch (error) {
          if (!(error instanceof NoFreeSlotError)) throw error;
        }
        if (++looks === MAX_RECOUNTS) throw createTooManyClaimsError(most);
        // An expired lease holds its slot until the expiry is recorded.
        await this.expiry.writeAllExpired();
        this.#held.delete(key);
        continue;
      }
      const others = this.#pendingClaims.get(key);
      if (others === undefined) throw createTooManyClaimsError(most);
      await Promise.allSettled(others);
    }
  }

  /** A store with transactions serves a single process, whose own count is exact. */
  #claimSlot<T>(key: string, held: LeaseCount, most: number, claim: (slot: ClaimSlot) => Promise<T>): Promise<T> {
    return this.commit.isAtomic ? claim({}) : this.#claimUniqueSlot(key, held, most, claim);
  }

  async #claimUniqueSlot<T>(
    key: string,
    { taken: reservedSlots }: LeaseCount,
    most: number,
    claim: (slot: ClaimSlot) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const place = this.#pickFreeSlot(reservedSlots, most);
      reservedSlots.add(place);
      try {
        const claimed = await claim({ slot: `${key}:${place}` });
        if (claimed === null) reservedSlots.delete(place);
        return claimed;
      } catch (error) {
        if (error instanceof StoreConflict && error.index === SLOT_INDEX) continue;
        reservedSlots.delete(place);
        throw error;
      }
    }
  }

  /**
   * Picks a random slot, so that processes rarely collide.
   * @throws NoFreeSlotError
   */
  #pickFreeSlot(reservedSlots: ReadonlySet<number>, most: number): number {
    const start = Math.floor(this.random() * most);
    for (let i = 0; i < most; i++) {
      const place = (start + i) % most;
      if (!reservedSlots.has(place)) return place;
    }
    throw new NoFreeSlotError();
  }

  /** Reserves the slot before other callers check. */
  async #trackClaim<T>(key: string, held: LeaseCount, claim: () => Promise<T>): Promise<T> {
    held.most += 1;
    const claiming = claim();
    const others = this.#pendingClaims.get(key) ?? new Set();
    this.#pendingClaims.set(key, others.add(claiming));
    let claimed: T | null = null;
    try {
      claimed = await claiming;
      return claimed;
    } finally {
      if (claimed === null) held.most -= 1;
      others.delete(claiming);
      if (others.size === 0) this.#pendingClaims.delete(key);
    }
  }

  #getFreshCount(key: string, most: number): LeaseCount | undefined {
    const held = this.#pendingCounts.has(key) ? undefined : this.#held.get(key);
    return held !== undefined && held.most < most && this.#isFresh(held) ? held : undefined;
  }

  #countOnce(holder: LeaseHolder): Promise<LeaseCount> {
    const { key } = holder;
    const counting = this.#pendingCounts.get(key);
    if (counting !== undefined) return counting;
    const begun = this.#count(holder).finally(() => this.#pendingCounts.delete(key));
    this.#pendingCounts.set(key, begun);
    return begun;
  }

  #isFresh({ at }: LeaseCount): boolean {
    return this.clock.monotonic() - at <= (this.commit.isAtomic ? SINGLE_COUNT_TTL_MS : SHARED_COUNT_TTL_MS);
  }

  async #count({ key, credential, agent }: LeaseHolder): Promise<LeaseCount> {
    // None may be pending during the count.
    await Promise.allSettled(this.#pendingClaims.get(key) ?? new Set<Promise<unknown>>());
    await this.times.adjustAfterStep();
    const live = { 'claim.expires_at': { gt: toIsoString(this.clock.now()) } };
    const filter = { ...live, 'claim.credential': credential, 'claim.agent': agent };
    const held = { at: this.clock.monotonic(), ...(await this.#readLeases(key, filter)) };
    this.#held.set(key, held);
    return held;
  }

  async #readLeases(key: string, filter: Filter): Promise<Pick<LeaseCount, 'most' | 'taken'>> {
    const items = this.items;
    if (this.commit.isAtomic) return { most: await items.count(filter), taken: new Set() };
    const page = await items.find({ filter, sort: [['claim.expires_at', 'asc']], limit: PAGE_SIZE });
    const slots = page.items.flatMap(({ claim }) => claim?.slot ?? []);
    const reservedSlots = new Set(slots.map((slot) => Number(slot.slice(key.length + 1))));
    return { most: page.next === null ? page.items.length : await items.count(filter), taken: reservedSlots };
  }
}

const createTooManyClaimsError = (most: number): ServiceError =>
  refusal('too_many_claims', `At most ${most} claimed items at a time: resolve or release one first.`);
