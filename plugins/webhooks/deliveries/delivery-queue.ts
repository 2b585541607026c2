/**
 * Queue of deliveries (contract 70, delivery). Only this class inserts, claims and acknowledges
 * them.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { Update } from '../../../ports/store.js';
import { ToldDamage } from '../../../ports/store/told-damage.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import type { Delivery } from '../model/delivery.js';
import { DeliveryLeases } from './leases.js';

const PAGE_SIZE = 200;

export interface InFlight {
  readonly delivery: Delivery;
  /** Start of the lease, `clock.monotonic()`. */
  readonly since: number;
}

@injectable()
export class DeliveryQueue {
  readonly #damage: ToldDamage;

  constructor(
    @inject(DEPS) private readonly deps: Pick<WebhookDeps, 'deliveries' | 'clock' | 'log'>,
    @inject(DeliveryLeases) private readonly leases: DeliveryLeases,
  ) {
    this.#damage = new ToldDamage(deps.log, 'a delivery');
  }

  get instance(): string {
    return this.leases.instance;
  }

  async insert(rows: readonly Delivery[]): Promise<void> {
    await this.deps.deliveries.bulk(rows.map((row) => ({ insert: row })));
  }

  async claim(webhook: string, limit: number): Promise<{ items: InFlight[]; more: boolean }> {
    const { leased, more } = await this.leases.claim(webhook, limit);
    const since = this.deps.clock.monotonic();
    for (const { id } of leased) this.leases.begin(id);
    return { items: leased.map((delivery) => ({ delivery, since })), more };
  }

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
        limit: PAGE_SIZE,
      });
      const due = new Set(items.map(({ webhook_id }) => webhook_id));
      yield* due;
      left = left.filter((id) => !due.has(id));
      full = next !== null && left.length > 0;
    }
  }

  reclaim(): Promise<number> {
    return this.leases.reclaimExpired();
  }

  /** Removes the delivery from memory; a lease that is still stored may be reclaimed. */
  end({ delivery }: InFlight): void {
    this.leases.end(delivery.id);
  }

  async release(item: InFlight): Promise<void> {
    await this.acknowledge(item, { set: { next_at: this.deps.clock.iso() }, unset: ['lease_by'] });
  }

  async hold(item: InFlight): Promise<void> {
    const now = this.deps.clock.iso();
    await this.acknowledge(item, { set: { state: 'held', held_at: now, updated_at: now }, unset: ['lease_by'] });
  }

  async discard({ delivery: { id, lease_by, lease_n } }: InFlight): Promise<void> {
    await this.deps.deliveries.remove({ id, lease_by, lease_n });
  }

  /**
   * Stores the outcome. Returns false when another process holds the delivery, whose attempt then
   * counts.
   */
  async acknowledge({ delivery: { id, lease_by, lease_n } }: InFlight, update: Update): Promise<boolean> {
    const [result] = await this.deps.deliveries.bulk([{ change: { id, lease_by, lease_n }, update }]);
    return result !== undefined && 'n' in result && result.n === 1;
  }
}
