/** Only this class inserts, claims and acknowledges deliveries (contract 70, delivery). */
import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import type { Update } from '../../../ports/store/index.js';
import { CorruptionReporter } from '../../../ports/store/corruption-reporter.js';
import { DEPS } from '../deps.js';
import type { WebhookDelivery } from '../model/delivery.js';
import { DeliveryLeaseService } from './delivery-leases.js';

const PAGE_SIZE = 200;

export interface LeasedDelivery {
  readonly delivery: WebhookDelivery;
  /** `clock.monotonic()`. */
  readonly since: number;
}

@injectable()
export class DeliveryQueue {
  readonly #damage: CorruptionReporter;

  constructor(
    @inject(DEPS.deliveries) private readonly deliveries: Collection<WebhookDelivery>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) log: Logger,
    @inject(DeliveryLeaseService) private readonly leases: DeliveryLeaseService,
  ) {
    this.#damage = new CorruptionReporter(log, 'a delivery');
  }

  get instanceId(): string {
    return this.leases.instanceId;
  }

  async insert(rows: readonly WebhookDelivery[]): Promise<void> {
    await this.deliveries.bulk(rows.map((row) => ({ insert: row })));
  }

  async claim(webhook: string, limit: number): Promise<{ items: LeasedDelivery[]; more: boolean }> {
    const { leased, more } = await this.leases.claim(webhook, limit);
    const since = this.clock.monotonic();
    for (const { id } of leased) this.leases.beginWork(id);
    return { items: leased.map((delivery) => ({ delivery, since })), more };
  }

  async *listWebhooksWithDue(webhooks: readonly string[]): AsyncGenerator<string> {
    let left = webhooks;
    let full = left.length > 0;
    while (full) {
      const { items, next } = await this.deliveries.find({
        damaged: this.#damage.report,
        filter: { webhook_id: { in: left }, next_at: { gt: '', lte: this.clock.iso() } },
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

  /** Affects memory only; a stored lease may be reclaimed. */
  forgetLease({ delivery }: LeasedDelivery): void {
    this.leases.endWork(delivery.id);
  }

  async release(item: LeasedDelivery): Promise<void> {
    await this.acknowledge(item, { set: { next_at: this.clock.iso() }, unset: ['lease_by'] });
  }

  async hold(item: LeasedDelivery): Promise<void> {
    const now = this.clock.iso();
    await this.acknowledge(item, { set: { state: 'held', held_at: now, updated_at: now }, unset: ['lease_by'] });
  }

  async discard({ delivery: { id, lease_by, lease_n } }: LeasedDelivery): Promise<void> {
    await this.deliveries.remove({ id, lease_by, lease_n });
  }

  /** Returns false when another process holds the delivery, whose attempt then counts. */
  async acknowledge({ delivery: { id, lease_by, lease_n } }: LeasedDelivery, update: Update): Promise<boolean> {
    const [result] = await this.deliveries.bulk([{ change: { id, lease_by, lease_n }, update }]);
    return result !== undefined && 'n' in result && result.n === 1;
  }
}
