/**
 * Polls for work without an event: due deliveries every second, leases and markers of terminated
 * processes every five. Without webhooks it only checks every fifteen seconds whether one exists.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { DeliveryQueue } from './delivery-queue.js';
import { DeliveryWorkers } from './delivery-workers.js';
import { RetryTimes } from './retry-times.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import { Fanout } from './fanout.js';

const POLL_INTERVAL_MS = 1_000;
const LEFT_EVERY = 5;
const ANY_EVERY = 15;

@injectable()
export class Poller {
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> = Promise.resolve();
  #open = false;
  #polls = 0;
  #any = true;

  constructor(
    @inject(DEPS) private readonly deps: Pick<WebhookDeps, 'log'>,
    @inject(DeliveryQueue) private readonly queue: DeliveryQueue,
    @inject(Fanout) private readonly fanout: Fanout,
    @inject(DeliveryWorkers) private readonly workers: DeliveryWorkers,
    @inject(RetryTimes) private readonly times: RetryTimes,
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
    await this.times.anchor();
    this.#any = await this.workers.wakeDue();
  }

  #scheduleNext(): void {
    this.#polling = this.#pollOnce();
  }

  async #pollOnce(): Promise<void> {
    try {
      const turn = this.#polls++;
      if (this.#any && turn % LEFT_EVERY === 0) await this.poll();
      else if (this.#any || turn % ANY_EVERY === 0) await this.#pollDue();
    } catch (err) {
      this.deps.log.error({ err }, 'looking for due deliveries failed; it is repeated');
    }
    if (this.#open) this.#timer = setTimeout(() => this.#scheduleNext(), POLL_INTERVAL_MS);
  }
}
