/** One per webhook and process, each with one attempt at a time (contract 70, delivery). */
import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { collectAll } from '../../../lib/paging.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import { WebhookCache } from '../registry/webhook-cache.js';
import { MAX_UNSTARTED_LEASE_MS } from './delivery-leases.js';
import { DeliveryQueue, type LeasedDelivery } from './delivery-queue.js';
import { DeliveryOutcomeRecorder } from './delivery-outcome-recorder.js';
import { WebhookSender, DELIVERY_VERDICTS } from '../sending/webhook-sender.js';
import type { Webhook } from '../model/webhook.js';
import type { Metrics } from '../../../ports/metrics.js';
import type { StoredEvent } from '../model/stored-event.js';

const BATCH_SIZE = 16;
const MAX_FAST_RESPONSE_MS = 250;
const MAX_PENDING_WRITES = 64;
/** Of the ten seconds for a graceful stop (contract 95, shutdown). */
const STOP_TIMEOUT_MS = 5_000;

interface DeliveryWorker {
  id: string;
  waiting: LeasedDelivery[];
  running: boolean;
  again: boolean;
  quick: boolean;
  writes: Set<Promise<void>>;
  fault: Error | null;
}

@injectable()
export class DeliveryWorkerPool {
  readonly #workers = new Map<string, DeliveryWorker>();
  readonly #runs = new Set<Promise<void>>();
  #isAccepting = false;
  #hasStopped = false;

  #attempted = 0;
  readonly #attempts: ReturnType<WebhookDeps['metrics']['counter']>;
  readonly #first: ReturnType<WebhookDeps['metrics']['histogram']>;

  constructor(
    @inject(DEPS.webhooks) private readonly webhooks: Collection<Webhook>,
    @inject(DEPS.events) private readonly events: Collection<StoredEvent>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.metrics) metrics: Metrics,
    @inject(WebhookCache) private readonly directory: WebhookCache,
    @inject(DeliveryQueue) private readonly queue: DeliveryQueue,
    @inject(WebhookSender) private readonly sender: WebhookSender,
    @inject(DeliveryOutcomeRecorder) private readonly outcomes: DeliveryOutcomeRecorder,
  ) {
    this.#attempts = metrics.counter('aos_webhook_attempts_total', 'Attempts of webhook deliveries, by verdict', {
      verdict: DELIVERY_VERDICTS,
    });
    this.#first = metrics.histogram(
      'aos_webhook_first_attempt_seconds',
      'From the creation of a delivery to the end of its first attempt',
      [0.05, 0.1, 0.2, 0.5, 1, 5, 15, 60],
    );
  }

  get attemptCount(): number {
    return this.#attempted;
  }

  start(): void {
    this.#isAccepting = true;
  }

  /**
   * Releases leased deliveries. Running attempts get `patienceMs`; after that their lease expires
   * and they are repeated.
   */
  async stop(patienceMs = STOP_TIMEOUT_MS): Promise<void> {
    this.#isAccepting = false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#hasStopped = true;
        resolve();
      }, patienceMs);
    });
    await Promise.race([this.waitUntilIdle(), late]);
    clearTimeout(timer);
  }

  wake(webhook: string): void {
    const worker = this.#getWorker(webhook);
    worker.again = true;
    this.#startWorker(worker);
  }

  async waitUntilIdle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(this.#runs);
  }

  async wakeDue(): Promise<boolean> {
    const ids = await this.#listWebhookIds();
    for (const id of this.#workers.keys()) if (!ids.includes(id) && !this.#isRunning(id)) this.#workers.delete(id);
    for await (const id of this.queue.listWebhooksWithDue(ids.filter((one) => !this.#isRunning(one)))) {
      if (!this.#isAccepting) break;
      this.wake(id);
    }
    return ids.length > 0;
  }

  #getWorker(id: string): DeliveryWorker {
    let worker = this.#workers.get(id);
    if (worker === undefined) {
      const writes = new Set<Promise<void>>();
      worker = { id, waiting: [], running: false, again: false, quick: true, writes, fault: null };
      this.#workers.set(id, worker);
    }
    return worker;
  }

  #isRunning(id: string): boolean {
    return this.#workers.get(id)?.running === true;
  }

  async #listWebhookIds(): Promise<string[]> {
    return (await collectAll(this.webhooks, { limit: 1000 })).map(({ id }) => id);
  }

  #startWorker(worker: DeliveryWorker): void {
    if (!this.#isAccepting || worker.running) return;
    worker.running = true;
    const run = this.#drain(worker).catch((err: unknown) => {
      this.log.error({ err, webhook: worker.id }, 'a delivery could not be processed; this will be retried');
    });
    const done = run.finally(() => {
      worker.running = false;
      this.#runs.delete(done);
      if ((worker.again || worker.waiting.length > 0) && this.#isAccepting) this.#startWorker(worker);
    });
    this.#runs.add(done);
  }

  async #drain(worker: DeliveryWorker): Promise<void> {
    worker.fault = null;
    try {
      while (this.#isAccepting && worker.fault === null) {
        const item = worker.waiting.shift();
        if (item !== undefined) await this.#runItem(worker, item);
        else if (worker.again) await this.#claimMore(worker);
        else break;
      }
    } catch (error) {
      worker.fault = toError(error);
    }
    await Promise.all(worker.writes);
    const left = this.#isAccepting && worker.fault === null ? [] : worker.waiting.splice(0);
    if (!this.#hasStopped) await Promise.all(left.map((item) => this.#releaseClaim(item)));
    if (worker.fault === null) return;
    worker.again = false;
    throw worker.fault;
  }

  async #claimMore(worker: DeliveryWorker): Promise<void> {
    worker.again = false;
    const { items, more } = await this.queue.claim(worker.id, worker.quick ? BATCH_SIZE : 1);
    if (more) worker.again = true;
    worker.waiting.push(...items);
  }

  async #runItem(worker: DeliveryWorker, item: LeasedDelivery): Promise<void> {
    if (this.clock.monotonic() - item.since > MAX_UNSTARTED_LEASE_MS) return this.#releaseClaim(item, worker);
    try {
      const webhook = await this.directory.find(worker.id);
      if (webhook === null) return await this.#finishItem(item, () => this.queue.discard(item));
      if (!webhook.enabled) return await this.#finishItem(item, () => this.queue.hold(item));
      const body = (await this.events.get(item.delivery.event_id))?.body;
      if (body === undefined) return await this.#finishItem(item, () => this.queue.discard(item));
      await this.#attempt(worker, item, webhook, body);
    } catch (error) {
      this.queue.forgetLease(item);
      throw error;
    }
  }

  async #attempt(worker: DeliveryWorker, item: LeasedDelivery, webhook: Webhook, body: string): Promise<void> {
    const { event_id, event, id: delivery_id, made, created_at } = item.delivery;
    const result = await this.sender.send(webhook, { event_id, event, body, delivery_id, attempt: made + 1 });
    this.#attempts.inc({ verdict: result.verdict });
    if (made === 0) this.#first.observe((this.clock.now() - Date.parse(created_at)) / 1000);
    if (this.#hasStopped) return;
    worker.quick = result.duration_ms < MAX_FAST_RESPONSE_MS;
    // A previous success resets the count first.
    if (result.verdict !== 'success') await Promise.all(worker.writes);
    // The count makes pages reload, so the write must be visible.
    const written = this.#finishItem(item, () => this.outcomes.record(item, webhook, result)).finally(
      () => (this.#attempted += 1),
    );
    if (result.verdict !== 'success') {
      await written;
      this.directory.invalidate(worker.id);
      return;
    }
    const write = written.catch((error: unknown) => void (worker.fault = toError(error)));
    worker.writes.add(write);
    void write.finally(() => worker.writes.delete(write));
    if (worker.writes.size >= MAX_PENDING_WRITES) await Promise.race(worker.writes);
  }

  async #finishItem(item: LeasedDelivery, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } finally {
      this.queue.forgetLease(item);
    }
  }

  async #releaseClaim(item: LeasedDelivery, worker?: DeliveryWorker): Promise<void> {
    if (worker !== undefined) worker.again = true;
    await this.#finishItem(item, () => this.queue.release(item));
  }
}

const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
