/**
 * Due deliveries every second, leases and markers of terminated processes every five. Without
 * webhooks, every fifteen seconds.
 */
import { inject, injectable, type Logger } from '../../../kernel/contract/index.js';
import { DeliveryQueue } from './delivery-queue.js';
import { DeliveryWorkerPool } from './delivery-workers.js';
import { RetryTimeCalculator } from './retry-times.js';
import { DEPS } from '../deps.js';
import { EventFanout } from './event-fanout.js';

const POLL_INTERVAL_MS = 1_000;
const POLLS_PER_LEASE_CHECK = 5;
const POLLS_PER_WEBHOOK_CHECK = 15;

@injectable()
export class DeliveryPoller {
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> = Promise.resolve();
  #open = false;
  #polls = 0;
  #hasWebhooks = true;

  constructor(
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DeliveryQueue) private readonly queue: DeliveryQueue,
    @inject(EventFanout) private readonly fanout: EventFanout,
    @inject(DeliveryWorkerPool) private readonly workers: DeliveryWorkerPool,
    @inject(RetryTimeCalculator) private readonly times: RetryTimeCalculator,
  ) {}

  start(): void {
    this.#open = true;
    this.#scheduleNext();
  }

  async stop(): Promise<void> {
    this.#open = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#polling;
  }

  async poll(): Promise<void> {
    await this.queue.reclaim();
    await this.fanout.reconcile();
    await this.#pollDue();
  }

  async #pollDue(): Promise<void> {
    await this.times.clampFutureTimes();
    this.#hasWebhooks = await this.workers.wakeDue();
  }

  #scheduleNext(): void {
    this.#polling = this.#pollOnce();
  }

  async #pollOnce(): Promise<void> {
    try {
      const turn = this.#polls++;
      if (this.#hasWebhooks && turn % POLLS_PER_LEASE_CHECK === 0) await this.poll();
      else if (this.#hasWebhooks || turn % POLLS_PER_WEBHOOK_CHECK === 0) await this.#pollDue();
    } catch (err) {
      this.log.error({ err }, 'loading due deliveries failed; this will be retried');
    }
    if (this.#open) this.#timer = setTimeout(() => this.#scheduleNext(), POLL_INTERVAL_MS);
  }
}
