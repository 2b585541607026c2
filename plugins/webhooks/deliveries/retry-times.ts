/** They follow the monotonic clock (contract 95, a bad day). */
import { inject, injectable, type Collection, type Clock } from '../../../kernel/contract/index.js';
import { DueTimeTracker } from '../../../lib/clock-skew.js';
import { iterateItems } from '../../../lib/paging.js';
import { DEPS } from '../deps.js';
import { getMaxRetryDelay } from '../model/retry-schedule.js';
import type { WebhookDelivery } from '../model/delivery.js';
import type { Webhook } from '../model/webhook.js';

@injectable()
export class RetryTimeCalculator {
  readonly #due: DueTimeTracker;

  constructor(
    @inject(DEPS.webhooks) private readonly webhooks: Collection<Webhook>,
    @inject(DEPS.deliveries) private readonly deliveries: Collection<WebhookDelivery>,
    @inject(DEPS.clock) clock: Clock,
  ) {
    this.#due = new DueTimeTracker(clock);
  }

  getTimeIn(delayMs: number): string {
    return this.#due.scheduleIn(delayMs);
  }

  /** Call before due deliveries are read. */
  clampFutureTimes(): Promise<void> {
    const { webhooks, deliveries } = this;
    return this.#due.reanchorIfNeeded(async () => {
      for await (const { id } of iterateItems(webhooks, { limit: 1_000 }))
        await this.#due.reanchor(deliveries, {
          field: 'next_at',
          filter: { webhook_id: id },
          sort: [
            ['webhook_id', 'asc'],
            ['next_at', 'asc'],
          ],
          longest: ({ failures }) => getMaxRetryDelay(failures),
        });
    });
  }
}
