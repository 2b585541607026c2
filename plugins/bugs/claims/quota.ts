/**
 * How many live leases a credential and agent holds at most (contract 20, leases: `bugs.max_claims`).
 *
 * A process knows what it has granted without a question to the store, so a claim does not cost one more read. Leases
 * end without it, so its count can be too high: it asks the store before it refuses. Where it claims alone, it asks
 * once a minute besides; where others claim too, once a second. Where several may claim at once, the claim itself
 * decides: each lease takes one of the holder's places, a number below the limit, which is unique in the store. The
 * write that would take a place twice is refused, and the claim goes on to another place. A place is free with the
 * write that ends the lease, whoever writes it.
 *
 * Rejected: a counter per holder, because every end of a lease would have to count it down in a second write.
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

/** How long a count holds where other processes claim, and where this one is alone. */
const SHARED_MS = 1_000;
const ALONE_MS = 60_000;
const MAX_HOLDERS = 10_000;

/** Leases of a holder whose places are read at once. */
const PAGE = 1_000;
/** How often a claim that meets only taken places looks which are. */
const LOOKS = 3;
/** The index that refuses a place which is taken. */
const SLOT = 'claim.slot';

/** Live leases of a holder: what was counted at `at`, and what was taken since. */
interface Held {
  at: number;
  most: number;
  /** Places that are taken, as far as this process knows. */
  taken: Set<number>;
}

/** The place that a lease is written with; empty where one process claims. */
export type ClaimSlot = Pick<ClaimLease, 'slot'>;

/** Every place is taken, as far as this process knows. */
class NoPlace extends Error {
  override name = 'NoPlace';
}

interface Holder {
  /** `getLeaseHolder` the two. */
  key: string;
  credential: string;
  agent: string;
}

@injectable()
export class ClaimQuota {
  readonly #held = new BoundedMap<Held>({ most: MAX_HOLDERS });
  /** Counts under way: all that arrive meanwhile wait for the one. */
  readonly #counting = new Map<string, Promise<Held>>();
  /** Claims that have a place, and of which nobody knows yet whether they need it. */
  readonly #underWay = new Map<string, Set<Promise<unknown>>>();

  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'clock' | 'config' | 'random'>,
    @inject(LeaseTimes) private readonly times: LeaseTimes,
    @inject(Expiry) private readonly expiry: Expiry,
    @inject(Commit) private readonly commit: Commit,
  ) {}

  /**
   * Claims where the holder has a place for it; where the last places are of claims under way, it waits for what
   * becomes of them.
   * @param claim null: nothing was claimed, and the place is free again, as it is when it throws
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
        // A lease that ran out keeps its place until that is written.
        await this.expiry.writeAllExpired();
        this.#held.delete(key);
        continue;
      }
      const others = this.#underWay.get(key);
      if (others === undefined) throw tooMany(most);
      await Promise.allSettled(others);
    }
  }

  /** Claims with a place of its own. A store with transactions has one process, for which its own count is exact. */
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
        // Another process has this place.
        if (error instanceof StoreConflict && error.index === SLOT) continue;
        taken.delete(place);
        throw error;
      }
    }
  }

  /** A place that is not known to be taken; not the first, so processes seldom meet at one. @throws NoPlace */
  #free(taken: ReadonlySet<number>, most: number): number {
    const start = Math.floor(this.deps.random() * most);
    for (let i = 0; i < most; i++) {
      const place = (start + i) % most;
      if (!taken.has(place)) return place;
    }
    throw new NoPlace();
  }

  /** With a place, which is taken before anybody else looks. */
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

  /** What is known without a question to the store; undefined: that is not enough. */
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

  /** A store with transactions has one process. */
  #isFresh({ at }: Held): boolean {
    return this.deps.clock.monotonic() - at <= (this.commit.isTogether ? ALONE_MS : SHARED_MS);
  }

  async #count({ key, credential, agent }: Holder): Promise<Held> {
    // The count has a claim that is under way, or not; so none is, and none begins before the end of the count.
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
