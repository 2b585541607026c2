/**
 * Writes that leases have run out (contract 20, leases). Expiry does not wait for a job: what ran out is written before
 * a claim or a list reads, and a reader of one item ignores it. Of very many that run out at once a request writes one
 * batch, and the rest follows behind the answers: nobody waits for all. Until then an item is shown as what it is, and
 * where no open item fits a claim, those that fit it come first; a list that asks for a status may miss some for a
 * moment.
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

/** Leases that a request writes at the most. */
export const EXPIRY_BATCH = 50;
/** Between two batches of the rest, in which others have the store. */
const PAUSE_MS = 25;
/** For a claim that finds nothing open. */
const FEW = 10;
/** The shortest lease, `lease_seconds` 60. */
const SHORTEST_MS = 60_000;
const SORT: Sort = [['claim.expires_at', 'asc']];

@injectable()
export class Expiry {
  readonly #writing = new SingleFlight<void>();
  /** Until this time of the monotonic clock no lease runs out: there is nothing to write. */
  #quietUntil = -Infinity;
  /** What one batch did not hold is being written. */
  #rest: Promise<void> | null = null;
  #draining = false;

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(LeaseTimes) private readonly times: LeaseTimes,
  ) {}

  /** Before a claim or a list reads. Parallel calls share one batch. */
  async writeExpired(): Promise<void> {
    await this.times.settle();
    if (this.#rest !== null || this.deps.clock.monotonic() < this.#quietUntil) return;
    await this.#writing.share('', async () => {
      if (await this.#batch()) this.#rest ??= this.#follow();
    });
  }

  /** By which clock a lease is written now. */
  mark(now: number): LeaseMark {
    return this.times.mark(now);
  }

  get allWritten(): boolean {
    return this.#rest === null;
  }

  /** All of them: for the job, every 30 s. */
  async writeAllExpired(): Promise<void> {
    await this.times.anchor();
    await this.writeExpired();
    await this.#rest;
  }

  /** Of those that are still to be written a few that fit are. @returns whether there were any */
  async free(fits: Filter): Promise<boolean> {
    if (this.#rest === null) return false;
    const filter = this.times.over({ ...fits, status: 'in_progress' });
    const { items } = await this.deps.items.find({ filter, sort: SORT, limit: FEW });
    await this.#expire(items);
    return items.length > 0;
  }

  /** The batch under way is written; the rest stays for the next call, of whatever process. */
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
   * After the last no lease can run out before the next one does: those that are made or renewed meanwhile, in whatever
   * process, last a minute at least, half of which is left for clocks that differ and writes that take time.
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
    this.#quietUntil = since + Math.min(ends - from, SHORTEST_MS / 2);
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
