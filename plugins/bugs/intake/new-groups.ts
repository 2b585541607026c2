/**
 * Budget of new groups that a public intake key may make within an hour (contract 00, limits). The count is kept in
 * this process; processes that share a store each have a part of the limit, as with rate limits (contract 95, several
 * processes). A restart begins anew. Rejected: a counter in the store, one more write for every new group.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { MINUTE_MS } from '../../../lib/time.js';
import { DEPS, type BugDeps } from '../deps.js';

const MINUTES = 60;
/** Keys that are counted at a time. */
const KEYS = 10_000;

@injectable()
export class NewGroups {
  readonly #made = new BoundedMap<Map<number, number>>({ most: KEYS });

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'clock' | 'new_groups_per_hour' | 'peers'>) {}

  /** Takes one from the key's budget; false when there is none left. */
  take(key: string): boolean {
    const { clock, new_groups_per_hour: perHour, peers } = this.deps;
    if (perHour === 0) return true;
    const minute = Math.floor(clock.monotonic() / MINUTE_MS);
    const minutes = this.#made.get(key) ?? new Map<number, number>();
    let made = 0;
    for (const [at, n] of minutes) {
      if (at <= minute - MINUTES) minutes.delete(at);
      else made += n;
    }
    // At least one, or a small limit would let nothing through.
    if (made >= Math.max(1, Math.floor(perHour / peers()))) return false;
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
    this.#made.set(key, minutes);
    return true;
  }
}
