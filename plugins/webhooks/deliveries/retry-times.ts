/** They follow the monotonic clock (contract 95, a bad day). */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { DueTimeTracker } from '../../../lib/clock-skew.js';
import { iterateItems } from '../../../lib/paging.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import { getMaxRetryDelay } from '../model/retry-schedule.js';

@injectable()
export class RetryTimeCalculator {
  readonly #due: DueTimeTracker;

  constructor(@inject(DEPS) private readonly deps: Pick<WebhookDeps, 'webhooks' | 'deliveries' | 'clock'>) {
    this.#due = new DueTimeTracker(deps.clock);
  }

  getTimeIn(delayMs: number): string {
    return this.#due.scheduleIn(delayMs);
  }

  /** Call before due deliveries are read. */
  clampFutureTimes(): Promise<void> {
    const { webhooks, deliveries } = this.deps;
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
