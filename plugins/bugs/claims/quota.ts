/**
 * Limits the live leases of a credential and agent (contract 20, leases: `bugs.max_claims`).
 *
 * A process caches the count, so a claim needs no extra read; the count is refreshed before a claim
 * is rejected, and periodically. With several processes, each lease takes a slot: a number below
 * the limit, unique per holder in the store. A taken slot rejects the write, and the claim tries
 * another. The write that ends the lease frees the slot. A stored counter was rejected: every end
 * of a lease would need a second write.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { ServiceError } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { isoOf } from '../../../lib/time.js';
import { StoreConflict, type Filter } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import { refusal } from '../errors.js';
import type { ClaimLease } from '../item/model.js';
import { Commit } from '../store/commit.js';
import { LeaseTimes } from '../store/lease-times.js';
import { Expiry } from './expiry.js';

const SHARED_MS = 1_000;
const ALONE_MS = 60_000;
const MAX_HOLDERS = 10_000;

const PAGE = 1_000;
const LOOKS = 3;
const SLOT = 'claim.slot';

interface Held {
  at: number;
  most: number;
  taken: Set<number>;
}

export type ClaimSlot = Pick<ClaimLease, 'slot'>;

class NoPlace extends Error {
  override name = 'NoPlace';
}

interface Holder {
  key: string;
  credential: string;
  agent: string;
}

@injectable()
export class ClaimQuota {
  readonly #held = new BoundedMap<Held>({ most: MAX_HOLDERS });
  readonly #counting = new Map<string, Promise<Held>>();
  readonly #underWay = new Map<string, Set<Promise<unknown>>>();

  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'clock' | 'config' | 'random'>,
    @inject(LeaseTimes) private readonly times: LeaseTimes,
    @inject(Expiry) private readonly expiry: Expiry,
    @inject(Commit) private readonly commit: Commit,
  ) {}

  /**
   * Runs a claim if the holder has a free slot. If pending claims hold the last slots, waits for
   * their outcome.
   * @param claim returns null if nothing was claimed, which frees the slot, as an exception does
   * @throws ServiceError too_many_claims
   */
  async within<T>(holder: Holder, claim: (slot: ClaimSlot) => Promise<T>): Promise<T> {
    const { max_claims: most } = this.deps.config;
    const { key } = holder;
    for (let looks = 0; ;) {
      const held = this.#fresh(key, most) ?? (await this.#counted(holder));
      if (held.most < most) {
        try {
          return await this.#claim(key, held, () => this.#placed(key, held, most, claim));
        } catch (error) {
          if (!(error instanceof NoPlace)) throw error;
        }
        if (++looks === LOOKS) throw tooMany(most);
        // An expired lease holds its slot until the expiry is recorded.
        await this.expiry.writeAllExpired();
        this.#held.delete(key);
        continue;
      }
      const others = this.#underWay.get(key);
      if (others === undefined) throw tooMany(most);
      await Promise.allSettled(others);
    }
  }

  /** A store with transactions serves a single process, whose own count is exact. */
  #placed<T>(key: string, held: Held, most: number, claim: (slot: ClaimSlot) => Promise<T>): Promise<T> {
    return this.commit.isTogether ? claim({}) : this.#inPlace(key, held, most, claim);
  }

  async #inPlace<T>(key: string, { taken }: Held, most: number, claim: (slot: ClaimSlot) => Promise<T>): Promise<T> {
    for (;;) {
      const place = this.#free(taken, most);
      taken.add(place);
      try {
        const claimed = await claim({ slot: `${key}:${place}` });
        if (claimed === null) taken.delete(place);
        return claimed;
      } catch (error) {
        if (error instanceof StoreConflict && error.index === SLOT) continue;
        taken.delete(place);
        throw error;
      }
    }
  }

  /**
   * Picks a random slot that is not known to be taken, so that processes rarely collide.
   * @throws NoFreeSlotError
   */
  #free(taken: ReadonlySet<number>, most: number): number {
    const start = Math.floor(this.deps.random() * most);
    for (let i = 0; i < most; i++) {
      const place = (start + i) % most;
      if (!taken.has(place)) return place;
    }
    throw new NoPlace();
  }

  /** Runs the claim and reserves its slot before other callers check. */
  async #claim<T>(key: string, held: Held, claim: () => Promise<T>): Promise<T> {
    held.most += 1;
    const claiming = claim();
    const others = this.#underWay.get(key) ?? new Set();
    this.#underWay.set(key, others.add(claiming));
    let claimed: T | null = null;
    try {
      claimed = await claiming;
      return claimed;
    } finally {
      if (claimed === null) held.most -= 1;
      others.delete(claiming);
      if (others.size === 0) this.#underWay.delete(key);
    }
  }

  #fresh(key: string, most: number): Held | undefined {
    const held = this.#counting.has(key) ? undefined : this.#held.get(key);
    return held !== undefined && held.most < most && this.#isFresh(held) ? held : undefined;
  }

  #counted(holder: Holder): Promise<Held> {
    const { key } = holder;
    const counting = this.#counting.get(key);
    if (counting !== undefined) return counting;
    const begun = this.#count(holder).finally(() => this.#counting.delete(key));
    this.#counting.set(key, begun);
    return begun;
  }

  #isFresh({ at }: Held): boolean {
    return this.deps.clock.monotonic() - at <= (this.commit.isTogether ? ALONE_MS : SHARED_MS);
  }

  async #count({ key, credential, agent }: Holder): Promise<Held> {
    // A pending claim may be counted or not, so none may be pending during the count.
    await Promise.allSettled(this.#underWay.get(key) ?? new Set<Promise<unknown>>());
    await this.times.settle();
    const live = { 'claim.expires_at': { gt: isoOf(this.deps.clock.now()) } };
    const filter = { ...live, 'claim.credential': credential, 'claim.agent': agent };
    const held = { at: this.deps.clock.monotonic(), ...(await this.#leases(key, filter)) };
    this.#held.set(key, held);
    return held;
  }

  async #leases(key: string, filter: Filter): Promise<Pick<Held, 'most' | 'taken'>> {
    const { items } = this.deps;
    if (this.commit.isTogether) return { most: await items.count(filter), taken: new Set() };
    const page = await items.find({ filter, sort: [['claim.expires_at', 'asc']], limit: PAGE });
    const slots = page.items.flatMap(({ claim }) => claim?.slot ?? []);
    const taken = new Set(slots.map((slot) => Number(slot.slice(key.length + 1))));
    return { most: page.next === null ? page.items.length : await items.count(filter), taken };
  }
}

const tooMany = (most: number): ServiceError =>
  refusal('too_many_claims', `At most ${most} items at a time: resolve or release one of yours first.`);
