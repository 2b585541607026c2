/**
 * The queue of deliveries (contract 70, delivery). It alone inserts, claims and acknowledges them. A delivery that this
 * process works on is an `InFlight`, from `begin` or `claim` until `end`.
 *
 * A new delivery has no row at first: its event carries the marker `fan_at` with the webhooks that want it, so nothing
 * is lost without one, and a receiver that answers at once costs a single write, the outcome. A delivery that waits or
 * takes longer gets its row meanwhile. Rejected: a row at the beginning and a change at the end, which was half of the
 * cost of a delivery.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { Update } from '../../../ports/store.js';
import { ToldDamage } from '../../../ports/store/told-damage.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import type { Delivery } from '../model/delivery.js';
import { DeliveryWriter } from './delivery-writer.js';
import { DeliveryLeases } from './leases.js';

/** Deliveries that are read at once to learn which webhooks have something due. */
const PAGE = 200;

export interface InFlight {
  /** As it is stored, or will be: with this process's lease. */
  readonly delivery: Delivery;
  /** The payload, where it is at hand. */
  readonly body: string | null;
  /** `clock.monotonic()` when it was leased, or its event stored. */
  readonly since: number;
  /** The row: this process's, on its way or stored (true), or another process's (false); null: it has none yet. */
  row: Promise<boolean> | null;
  /** Settles the promise of `begin`; null for a delivery that came from the store. */
  readonly settle: { stored: () => void; failed: (error: unknown) => void } | null;
}

@injectable()
export class DeliveryQueue {
  readonly #damage: ToldDamage;

  constructor(
    @inject(DEPS) private readonly deps: Pick<WebhookDeps, 'deliveries' | 'clock' | 'log'>,
    @inject(DeliveryLeases) private readonly leases: DeliveryLeases,
    @inject(DeliveryWriter) private readonly writer: DeliveryWriter,
  ) {
    this.#damage = new ToldDamage(deps.log, 'a delivery');
  }

  /** This process, as leases and markers name it. */
  get instance(): string {
    return this.leases.instance;
  }

  /**
   * A new delivery without a row, in flight at once.
   * @returns `stored` resolves when it has its row or needs none any more, and rejects when the row could not be
   * written
   */
  begin(delivery: Delivery, body: string): { item: InFlight; stored: Promise<void> } {
    let settle: InFlight['settle'] = null;
    const stored = new Promise<void>((resolve, reject) => {
      settle = { stored: resolve, failed: reject };
    });
    this.leases.begin(delivery.id);
    return { item: { delivery, body, since: this.deps.clock.monotonic(), row: null, settle }, stored };
  }

  /** A delivery for any process to claim. False: there is one with this id already. */
  insert(row: Delivery): Promise<boolean> {
    return this.writer.insert(row);
  }

  /** Leases what is due of a webhook, longest due first. `more`: there is more than `limit`. */
  async claim(webhook: string, limit: number): Promise<{ items: InFlight[]; more: boolean }> {
    const { leased, more } = await this.leases.claim(webhook, limit);
    const since = this.deps.clock.monotonic();
    const row = Promise.resolve(true);
    for (const { id } of leased) this.leases.begin(id);
    return { items: leased.map((delivery) => ({ delivery, body: null, since, row, settle: null })), more };
  }

  /** Those of the webhooks that have something due in the store. */
  async *due(webhooks: readonly string[]): AsyncGenerator<string> {
    let left = webhooks;
    let full = left.length > 0;
    while (full) {
      const { items, next } = await this.deps.deliveries.find({
        damaged: this.#damage.tell,
        filter: { webhook_id: { in: left }, next_at: { gt: '', lte: this.deps.clock.iso() } },
        sort: [
          ['webhook_id', 'asc'],
          ['next_at', 'asc'],
        ],
        limit: PAGE,
      });
      const due = new Set(items.map(({ webhook_id }) => webhook_id));
      yield* due;
      left = left.filter((id) => !due.has(id));
      full = next !== null && left.length > 0;
    }
  }

  /** Frees deliveries of processes that are gone. Answers how many. */
  reclaim(): Promise<number> {
    return this.leases.takeBack();
  }

  /**
   * No longer in flight here, with or without an outcome: a lease that is still in the store may be taken back, and one
   * without a row is made up from its event.
   */
  end({ delivery, row, settle }: InFlight): void {
    this.leases.end(delivery.id);
    // Has no effect once it was stored or discarded.
    if (row === null) settle?.failed(new Error('the delivery was not stored'));
  }

  /** Under way for so long that the log should show it: a row with our lease. */
  keep(item: InFlight): Promise<boolean> {
    return item.row ?? this.#store(item, item.delivery);
  }

  /** Not begun: due from now on, for any process. */
  async release(item: InFlight): Promise<void> {
    const due = this.deps.clock.iso();
    if (item.row === null) await this.#store(item, { ...unleased(item.delivery), next_at: due });
    else await this.#change(item, { set: { next_at: due }, unset: ['lease_by'] });
  }

  /** Its webhook is disabled. */
  async hold(item: InFlight): Promise<void> {
    const now = this.deps.clock.iso();
    const set = { state: 'held', held_at: now, updated_at: now } as const;
    if (item.row === null) await this.#store(item, { ...unleased(item.delivery), ...set });
    else await this.#change(item, { set, unset: ['lease_by'] });
  }

  /** Its event or its webhook is gone. */
  async discard(item: InFlight): Promise<void> {
    if (item.row === null) item.settle?.stored();
    else if (await item.row) await this.writer.remove(item.delivery);
  }

  /**
   * The outcome of an attempt.
   * @param whole the delivery as it is after the attempt
   * @param update the same as a change of the row
   * @returns false when another process holds the delivery by now: its attempt is the one that counts
   */
  acknowledge(item: InFlight, whole: Delivery, update: Update): Promise<boolean> {
    return item.row === null ? this.#store(item, whole) : this.#change(item, update);
  }

  #store(item: InFlight, row: Delivery): Promise<boolean> {
    const storing = this.writer.insert(row);
    item.row = storing;
    storing.then(
      () => item.settle?.stored(),
      (error: unknown) => {
        item.row = null;
        item.settle?.failed(error);
      },
    );
    return storing;
  }

  async #change(item: InFlight, update: Update): Promise<boolean> {
    return (await item.row) === true && this.writer.change(item.delivery, update);
  }
}

function unleased({ lease_by: _gone, ...row }: Delivery): Delivery {
  return row;
}
