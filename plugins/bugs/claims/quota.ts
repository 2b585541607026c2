/**
 * How many live leases a credential and agent holds at most (contract 20, leases: `bugs.max_claims`). What this process
 * has granted within the last second is known without a question to the store, so that a claim does not cost one more
 * read; beyond that the store is asked, which knows the claims of all processes.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { isoOf } from '../../../lib/time.js';
import { DEPS, type BugDeps } from '../deps.js';
import { refusal } from '../errors.js';
import { holderOf } from '../item/lease.js';
import { LeaseTimes } from '../store/lease-times.js';

const FRESH_MS = 1_000;
const MOST_HOLDERS = 10_000;

/** Live leases of a holder: what was counted at `at`, and what was taken since. */
interface Held {
  at: number;
  most: number;
}

interface Holder {
  credential: string;
  agent: string;
}

@injectable()
export class ClaimQuota {
  readonly #held = new BoundedMap<Held>({ most: MOST_HOLDERS });
  /** Counts under way: all that arrive meanwhile wait for the one. */
  readonly #counting = new Map<string, Promise<Held>>();
  /** Claims that have a place, and of which nobody knows yet whether they need it. */
  readonly #underWay = new Map<string, Set<Promise<unknown>>>();

  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'clock' | 'config'>,
    @inject(LeaseTimes) private readonly times: LeaseTimes,
  ) {}

  /**
   * Claims where the holder has a place for it; where the last places are of claims under way, it waits for what
   * becomes of them.
   * @param claim null: nothing was claimed, and the place is free again, as it is when it throws
   * @throws ServiceError too_many_claims
   */
  async within<T>(holder: Holder, claim: () => Promise<T>): Promise<T> {
    const { max_claims: most } = this.deps.config;
    const key = holderOf(holder);
    for (;;) {
      const held = await this.#known(key, holder, most);
      if (held.most < most) return this.#claim(key, held, claim);
      const others = this.#underWay.get(key);
      if (others === undefined)
        throw refusal('too_many_claims', `At most ${most} items at a time: resolve or release one of yours first.`);
      await Promise.allSettled(others);
    }
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

  async #known(key: string, holder: Holder, most: number): Promise<Held> {
    const counting = this.#counting.get(key);
    if (counting !== undefined) return counting;
    const held = this.#held.get(key);
    if (held !== undefined && held.most < most && this.deps.clock.monotonic() - held.at <= FRESH_MS) return held;
    const begun = this.#count(key, holder).finally(() => this.#counting.delete(key));
    this.#counting.set(key, begun);
    return begun;
  }

  async #count(key: string, { credential, agent }: Holder): Promise<Held> {
    // The count has a claim that is under way, or not; so none is, and none begins before the end of the count.
    await Promise.allSettled(this.#underWay.get(key) ?? new Set<Promise<unknown>>());
    await this.times.settle();
    const live = { 'claim.expires_at': { gt: isoOf(this.deps.clock.now()) } };
    const most = await this.deps.items.count({ ...live, 'claim.credential': credential, 'claim.agent': agent });
    const held = { at: this.deps.clock.monotonic(), most };
    this.#held.set(key, held);
    return held;
  }
}
