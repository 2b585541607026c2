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

const FRESH_MS = 1_000;
const MOST_HOLDERS = 10_000;

/** At most so many leases are live: what was counted at `at`, and what was granted since. */
interface Held {
  at: number;
  most: number;
}

@injectable()
export class ClaimQuota {
  readonly #held = new BoundedMap<Held>({ most: MOST_HOLDERS });

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'clock' | 'config'>) {}

  /**
   * Takes a place for a claim that is about to be made.
   * @returns gives it back where nothing was claimed
   * @throws ServiceError too_many_claims
   */
  async take(holder: { credential: string; agent: string }): Promise<() => void> {
    const most = this.deps.config.max_claims;
    const key = holderOf(holder);
    const now = this.deps.clock.monotonic();
    let held = this.#held.get(key);
    if (held === undefined || held.most >= most || now - held.at > FRESH_MS) {
      const before = held?.most ?? 0;
      const counted = await this.#count(holder);
      const other = this.#held.get(key);
      // What parallel calls took meanwhile may be in the count, or not: the greater number is on the safe side.
      const since = other === undefined ? 0 : Math.max(0, other.most - before);
      held = { at: this.deps.clock.monotonic(), most: counted + since };
      this.#held.set(key, held);
    }
    if (held.most >= most)
      throw refusal('too_many_claims', `At most ${most} items at a time: resolve or release one of yours first.`);
    const place = held;
    place.most += 1;
    return () => void (place.most -= 1);
  }

  #count({ credential, agent }: { credential: string; agent: string }): Promise<number> {
    const live = { 'claim.expires_at': { gt: isoOf(this.deps.clock.now()) } };
    return this.deps.items.count({ ...live, 'claim.credential': credential, 'claim.agent': agent });
  }
}
