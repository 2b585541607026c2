/** Due times of retries, which follow the monotonic clock (contract 95, a bad day). */
import { inject, injectable } from '../../../kernel/contract.js';
import { DueTimes } from '../../../lib/clock-skew.js';
import { each } from '../../../lib/paging.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import { getMaxDelay } from '../model/retry-schedule.js';

@injectable()
export class RetryTimes {
  readonly #due: DueTimes;

  constructor(@inject(DEPS) private readonly deps: Pick<WebhookDeps, 'webhooks' | 'deliveries' | 'clock'>) {
    this.#due = new DueTimes(deps.clock);
  }

  in(delayMs: number): string {
    return this.#due.in(delayMs);
  }

  /** Must be called before due deliveries are read. */
  anchor(): Promise<void> {
    const { webhooks, deliveries } = this.deps;
    return this.#due.reanchorIfNeeded(async () => {
      for await (const { id } of each(webhooks, { limit: 1_000 }))
        await this.#due.reanchor(deliveries, {
          field: 'next_at',
          filter: { webhook_id: id },
          sort: [
            ['webhook_id', 'asc'],
            ['next_at', 'asc'],
          ],
          longest: ({ failures }) => getMaxDelay(failures),
        });
    });
  }
}
