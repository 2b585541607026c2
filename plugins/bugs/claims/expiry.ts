/**
 * Records expired leases in their items (contract 20, leases) before a claim or a list reads. A
 * request records one batch, and the rest follows after its response. Until then a list filtered by
 * status may miss a few items; a claim that finds no open item records matching items first.
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

export const EXPIRY_BATCH = 50;
const PAUSE_MS = 25;
const FEW = 10;
const MIN_INTERVAL_MS = 60_000;
const NOTHING = Promise.resolve();
const SORT: Sort = [['claim.expires_at', 'asc']];

@injectable()
export class Expiry {
  readonly #writing = new SingleFlight<void>();
  #quietUntil = -Infinity;
  #rest: Promise<void> | null = null;
  #draining = false;

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(LeaseTimes) private readonly times: LeaseTimes,
  ) {}

  /**
   * Records one batch of expired leases before a claim or a list reads. Parallel calls share the
   * batch.
   */
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

  mark(now: number): LeaseMark {
    return this.times.mark(now);
  }

  get #isQuiet(): boolean {
    return this.#rest !== null || this.deps.clock.monotonic() < this.#quietUntil;
  }

  async writeAllExpired(): Promise<void> {
    await this.times.anchor();
    await this.writeExpired();
    await this.#rest;
  }

  /**
   * Records a few expired leases that match the filter.
   * @returns whether any matched
   */
  async free(fits: Filter): Promise<boolean> {
    if (this.#rest === null) return false;
    const filter = this.times.over({ ...fits, status: 'in_progress' });
    const { items } = await this.deps.items.find({ filter, sort: SORT, limit: FEW });
    await this.#expire(items);
    return items.length > 0;
  }

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
   * Records one batch. After the last one, no lease expires before the next known expiry or within
   * a minute, the shortest lease. Half of that minute is a margin for clock differences.
   * @returns whether more leases may have expired
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
