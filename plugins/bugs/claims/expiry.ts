/**
 * Records expired leases in their items (contract 20, leases). No job is needed for it: a claim or a list records them
 * before it reads, and the view of a single item ignores a lease that has expired. When very many leases expire at
 * once, a request records one batch, and the rest follows after its answer, so nobody waits for all of them. Meanwhile
 * each item's own view is right, a claim that finds no open item records the items that fit it first, and a list
 * filtered by status may miss a few for a moment.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { isoOf } from '../../../lib/time.js';
import type { Filter, Sort } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import { Items } from '../store/items.js';
import { LeaseTimes } from '../store/lease-times.js';
import type { ItemDoc, LeaseMark } from '../item/model.js';
import { planExpiry } from '../item/lease.js';

/** The most leases that one request records. */
export const EXPIRY_BATCH = 50;
/** Pause between two batches of the rest, in milliseconds: others use the store in it. */
const PAUSE_MS = 25;
/** Leases that a claim records at once when it finds no open item. */
const FEW = 10;
/** The shortest lease that an agent can ask for: `lease_seconds` 60. */
const MIN_INTERVAL_MS = 60_000;
/** Nearly every call has nothing to do. */
const NOTHING = Promise.resolve();
const SORT: Sort = [['claim.expires_at', 'asc']];

@injectable()
export class Expiry {
  readonly #writing = new SingleFlight<void>();
  /** No lease expires before this time of the monotonic clock, so until then nothing is to do. */
  #quietUntil = -Infinity;
  /** The work on everything that did not fit into one batch; null: none is left. */
  #rest: Promise<void> | null = null;
  #draining = false;

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(LeaseTimes) private readonly times: LeaseTimes,
  ) {}

  /** Records one batch; called before a claim or a list reads. Parallel calls share the batch. */
  writeExpired(): Promise<void> {
    return this.times.isSettled && this.#isQuiet ? NOTHING : this.#writeExpired();
  }

  async #writeExpired(): Promise<void> {
    await this.times.settle();
    if (this.#isQuiet) return;
    await this.#writing.share('', async () => {
      if (await this.#batch()) this.#rest ??= this.#follow();
    });
  }

  /** Names the clock that a lease written now is measured by. */
  mark(now: number): LeaseMark {
    return this.times.mark(now);
  }

  /** Nothing has expired, or what has is being recorded. */
  get #isQuiet(): boolean {
    return this.#rest !== null || this.deps.clock.monotonic() < this.#quietUntil;
  }

  /** Records all expired leases. The job calls it every 30 s. */
  async writeAllExpired(): Promise<void> {
    await this.times.anchor();
    await this.writeExpired();
    await this.#rest;
  }

  /** Records a few expired leases that fit the filter, out of those still waiting. @returns whether any did fit */
  async free(fits: Filter): Promise<boolean> {
    if (this.#rest === null) return false;
    const filter = this.times.over({ ...fits, status: 'in_progress' });
    const { items } = await this.deps.items.find({ filter, sort: SORT, limit: FEW });
    await this.#expire(items);
    return items.length > 0;
  }

  /** Finishes the batch under way. The next call, of any process, records the rest. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#rest;
    this.#draining = false;
  }

  async #follow(): Promise<void> {
    try {
      do await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      while (!this.#draining && (await this.#batch()));
    } catch (error) {
      this.deps.log.error({ err: error }, 'leases that ran out could not be written; the next call tries again');
    } finally {
      this.#rest = null;
    }
  }

  /**
   * Records one batch. When it was the last one, nothing can expire before the next lease does: a lease made or renewed
   * meanwhile, in any process, lasts at least a minute. Half of this minute is kept for clocks that differ and for slow
   * writes.
   * @returns whether there may be more
   */
  async #batch(): Promise<boolean> {
    const { items, clock } = this.deps;
    const from = clock.now();
    const since = clock.monotonic();
    const page = await items.find({ filter: this.times.over(), sort: SORT, limit: EXPIRY_BATCH });
    await this.#expire(page.items);
    if (page.items.length === EXPIRY_BATCH) return true;
    const later = await items.find({ filter: { 'claim.expires_at': { gt: isoOf(from) } }, sort: SORT, limit: 1 });
    const ends = Date.parse(later.items[0]?.claim?.expires_at ?? '') || Infinity;
    this.#quietUntil = since + Math.min(ends - from, MIN_INTERVAL_MS / 2);
    return false;
  }

  async #expire(found: readonly ItemDoc[]): Promise<void> {
    const expired = ({ id }: ItemDoc): Promise<ItemDoc> =>
      this.items.change(id, 'system', (item, change) => {
        if (item.status === 'in_progress' && (item.claim === null || this.times.isOver(item.claim)))
          planExpiry(item, change);
      });
    await Promise.all(found.map(expired));
  }
}
