/**
 * Records expired leases (contract 20, leases) before a claim or a list reads, one batch per
 * request. Until the rest follows, a list filtered by status may miss a few items; a claim that
 * finds no open item records matching items first.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { toIsoString } from '../../../lib/time.js';
import type { Filter, Sort, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { ItemService } from '../store/item-service.js';
import { LeaseClockAdjuster } from '../store/lease-clock-adjuster.js';
import type { ItemDoc, LeaseClockStamp } from '../item/model.js';
import { planExpiry } from '../item/lease.js';
import type { Logger } from '../../../ports/logger.js';
import type { Clock } from '../../../ports/clock.js';

export const MAX_EXPIRY_BATCH_SIZE = 50;
const PAUSE_MS = 25;
const MAX_FREED_LEASES = 10;
const MIN_INTERVAL_MS = 60_000;
const RESOLVED = Promise.resolve();
const SORT: Sort = [['claim.expires_at', 'asc']];

@injectable()
export class LeaseExpiryRecorder {
  readonly #writing = new SingleFlight<void>();
  #noExpiryUntil = -Infinity;
  #remainingWork: Promise<void> | null = null;
  #draining = false;

  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(ItemService) private readonly items: ItemService,
    @inject(LeaseClockAdjuster) private readonly times: LeaseClockAdjuster,
  ) {}

  /** Parallel calls share the batch. */
  writeExpired(): Promise<void> {
    return this.times.isAdjusted && this.#isIdle ? RESOLVED : this.#writeExpired();
  }

  async #writeExpired(): Promise<void> {
    await this.times.adjustAfterStep();
    if (this.#isIdle) return;
    await this.#writing.share('', async () => {
      if (await this.#recordBatch()) this.#remainingWork ??= this.#recordRemaining();
    });
  }

  createClockStamp(now: number): LeaseClockStamp {
    return this.times.getClockStamp(now);
  }

  get #isIdle(): boolean {
    return this.#remainingWork !== null || this.clock.monotonic() < this.#noExpiryUntil;
  }

  async writeAllExpired(): Promise<void> {
    await this.times.shortenOverlong();
    await this.writeExpired();
    await this.#remainingWork;
  }

  async expireMatching(fits: Filter): Promise<boolean> {
    if (this.#remainingWork === null) return false;
    const filter = this.times.buildExpiredFilter({ ...fits, status: 'in_progress' });
    const { items } = await this.itemRows.find({ filter, sort: SORT, limit: MAX_FREED_LEASES });
    await this.#expire(items);
    return items.length > 0;
  }

  async drain(): Promise<void> {
    this.#draining = true;
    await this.#remainingWork;
    this.#draining = false;
  }

  async #recordRemaining(): Promise<void> {
    try {
      do await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      while (!this.#draining && (await this.#recordBatch()));
    } catch (error) {
      this.log.error({ err: error }, 'expired leases could not be stored; the next request retries');
    } finally {
      this.#remainingWork = null;
    }
  }

  /**
   * Records one batch. After the last one, no lease expires before the next known expiry or within
   * a minute, the shortest lease. Half of that minute is a margin for clock differences.
   * @returns whether more leases may have expired
   */
  async #recordBatch(): Promise<boolean> {
    const { itemRows: items, clock } = this;
    const from = clock.now();
    const since = clock.monotonic();
    const page = await items.find({
      filter: this.times.buildExpiredFilter(),
      sort: SORT,
      limit: MAX_EXPIRY_BATCH_SIZE,
    });
    await this.#expire(page.items);
    if (page.items.length === MAX_EXPIRY_BATCH_SIZE) return true;
    const later = await items.find({ filter: { 'claim.expires_at': { gt: toIsoString(from) } }, sort: SORT, limit: 1 });
    const ends = Date.parse(later.items[0]?.claim?.expires_at ?? '') || Infinity;
    this.#noExpiryUntil = since + Math.min(ends - from, MIN_INTERVAL_MS / 2);
    return false;
  }

  async #expire(found: readonly ItemDoc[]): Promise<void> {
    const expired = ({ id }: ItemDoc): Promise<ItemDoc> =>
      this.items.change(id, 'system', (item, change) => {
        if (item.status === 'in_progress' && (item.claim === null || this.times.isExpired(item.claim)))
          planExpiry(item, change);
      });
    await Promise.all(found.map(expired));
  }
}
