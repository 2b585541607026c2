/**
 * Workers: one per webhook and process, in each one attempt at a time, none waiting for another (contract 70,
 * delivery). New deliveries come to them in memory, behind the answer to the producer; what waits there for too long
 * goes to the store, and the workers ask the store for what is due.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { all } from '../../../lib/paging.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import { WebhookDirectory } from '../registry/directory.js';
import { STALE_MS } from './leases.js';
import type { Delivery } from '../model/delivery.js';
import { DeliveryQueue, type InFlight } from './delivery-queue.js';
import { Outcomes } from './outcomes.js';
import { EventLoopThrottle } from './event-loop-throttle.js';
import { WebhookSender, VERDICTS } from '../sending/sender.js';
import type { Webhook } from '../model/webhook.js';

/** A worker takes this many at once while its receiver is quick. */
const BATCH = 16;
const QUICK_MS = 250;
/** Successes whose writes the next attempts do not wait for: they share a commit. */
const UNWRITTEN = 64;
/** Of the ten seconds that a service has for its end (contract 95, shutdown). */
const STOP_MS = 5_000;
/** New deliveries wait in memory no longer than this, and no more of them in one worker. */
export const ROWLESS_MS = 8_000;
const MOST_WAITING = 500;
/** An attempt that takes longer than this is seen in the log while it lasts. */
const SEEN_MS = 1_000;
const SWEEP_MS = 500;

interface Worker {
  id: string;
  waiting: InFlight[];
  current: InFlight | null;
  running: boolean;
  /** Something may be due in the store. */
  again: boolean;
  quick: boolean;
  /** Writes of successes, which the next attempts do not wait for. */
  writes: Set<Promise<void>>;
  /** One of them failed; the worker stops, and what it leased is taken back. */
  fault: Error | null;
}

@injectable()
export class DeliveryWorkers {
  readonly #workers = new Map<string, Worker>();
  readonly #runs = new Set<Promise<void>>();
  readonly #throttle = new EventLoopThrottle();
  #sweeper: NodeJS.Timeout | null = null;
  #open = false;
  /** The store may be closed by now. */
  #abandoned = false;

  #attempted = 0;
  readonly #attempts: ReturnType<WebhookDeps['metrics']['counter']>;
  readonly #first: ReturnType<WebhookDeps['metrics']['histogram']>;

  constructor(
    @inject(DEPS)
    private readonly deps: Pick<WebhookDeps, 'webhooks' | 'events' | 'clock' | 'log' | 'metrics'>,
    @inject(WebhookDirectory) private readonly directory: WebhookDirectory,
    @inject(DeliveryQueue) private readonly queue: DeliveryQueue,
    @inject(WebhookSender) private readonly sender: WebhookSender,
    @inject(Outcomes) private readonly outcomes: Outcomes,
  ) {
    const { metrics } = this.deps;
    this.#attempts = metrics.counter('aos_webhook_attempts_total', 'Attempts of webhook deliveries, by verdict', {
      verdict: VERDICTS,
    });
    this.#first = metrics.histogram(
      'aos_webhook_first_attempt_seconds',
      'From the creation of a delivery to the end of its first attempt',
      [0.05, 0.1, 0.2, 0.5, 1, 5, 15, 60],
    );
  }

  /** Attempts of this process since its start. */
  get attempted(): number {
    return this.#attempted;
  }

  /** New deliveries that are not in the store yet. */
  get unstored(): number {
    let n = 0;
    for (const { waiting } of this.#workers.values()) for (const { row } of waiting) if (row === null) n += 1;
    return n;
  }

  start(): void {
    this.#open = true;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  /**
   * Begins nothing more and gives back what was leased and not begun. Attempts under way get `patienceMs`; one that
   * takes longer is left to its lease, and repeated.
   */
  async stop(patienceMs = STOP_MS): Promise<void> {
    this.#open = false;
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    for (const worker of this.#workers.values()) if (worker.current !== null) this.#keep(worker.current);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#abandoned = true;
        resolve();
      }, patienceMs);
    });
    await Promise.race([this.idle(), late]);
    clearTimeout(timer);
  }

  /**
   * A new delivery, which has no row yet. Resolves as `DeliveryQueue.begin` says: when nothing depends on its event any
   * more.
   */
  offer(delivery: Delivery, body: string): Promise<void> {
    const worker = this.#worker(delivery.webhook_id);
    const { item, stored } = this.queue.begin(delivery, body);
    if (!this.#open || worker.waiting.length >= MOST_WAITING) this.#put(worker, [item]);
    else {
      worker.waiting.push(item);
      this.#kick(worker);
    }
    return stored;
  }

  /** Something of this webhook is due. */
  wake(webhook: string): void {
    const worker = this.#worker(webhook);
    worker.again = true;
    this.#kick(worker);
  }

  /** Resolves when no worker runs: for tests and for tools. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(this.#runs);
  }

  /** Wakes the workers that have something due in the store. False: there is no webhook. */
  async wakeDue(): Promise<boolean> {
    const ids = await this.#webhookIds();
    for (const id of this.#workers.keys()) if (!ids.includes(id) && !this.#busy(id)) this.#workers.delete(id);
    for await (const id of this.queue.due(ids.filter((one) => !this.#busy(one)))) {
      if (!this.#open) break;
      this.wake(id);
    }
    return ids.length > 0;
  }

  #worker(id: string): Worker {
    let worker = this.#workers.get(id);
    if (worker === undefined) {
      const writes = new Set<Promise<void>>();
      worker = { id, waiting: [], current: null, running: false, again: false, quick: true, writes, fault: null };
      this.#workers.set(id, worker);
    }
    return worker;
  }

  #busy(id: string): boolean {
    return this.#workers.get(id)?.running === true;
  }

  async #webhookIds(): Promise<string[]> {
    return (await all(this.deps.webhooks, { limit: 1000 })).map(({ id }) => id);
  }

  #kick(worker: Worker): void {
    if (!this.#open || worker.running) return;
    worker.running = true;
    const run = this.#drain(worker).catch((err: unknown) => {
      this.deps.log.error({ err, webhook: worker.id }, 'a delivery could not be worked on; it is repeated');
    });
    const done = run.finally(() => {
      worker.running = false;
      this.#runs.delete(done);
      // What came in while the last look found nothing.
      if ((worker.again || worker.waiting.length > 0) && this.#open) this.#kick(worker);
    });
    this.#runs.add(done);
  }

  /** What waits for too long, or is under way for long, gets its row. */
  #sweep(): void {
    const now = this.deps.clock.monotonic();
    for (const worker of this.#workers.values()) {
      if (worker.current !== null && now - worker.current.since > SEEN_MS) this.#keep(worker.current);
      const old = worker.waiting.filter(({ row, since }) => row === null && now - since > ROWLESS_MS);
      if (old.length === 0) continue;
      worker.waiting = worker.waiting.filter((item) => !old.includes(item));
      this.#put(worker, old);
    }
  }

  /** The one who offered it learns of a failure by the promise of `offer`. */
  #keep(item: InFlight): void {
    this.queue.keep(item).catch((err: unknown) => this.deps.log.warn({ err }, 'a delivery could not be stored yet'));
  }

  /** Into the store, from where the worker takes it again. */
  #put(worker: Worker, items: readonly InFlight[]): void {
    const done = Promise.all(items.map((item) => this.#end(item, () => this.queue.release(item))))
      .catch((err: unknown) => this.deps.log.error({ err, webhook: worker.id }, 'deliveries could not be stored yet'))
      .then(() => this.wake(worker.id))
      .finally(() => this.#runs.delete(done));
    this.#runs.add(done);
  }

  async #drain(worker: Worker): Promise<void> {
    worker.fault = null;
    try {
      while (this.#open && worker.fault === null) {
        await this.#throttle.turn();
        const item = worker.waiting.shift();
        if (item !== undefined) await this.#work(worker, item);
        else if (worker.again) await this.#more(worker);
        else break;
      }
    } catch (error) {
      worker.fault = asError(error);
    }
    await Promise.all(worker.writes);
    const left = this.#open && worker.fault === null ? [] : worker.waiting.splice(0);
    if (!this.#abandoned) await Promise.all(left.map((item) => this.#giveBack(item)));
    if (worker.fault === null) return;
    worker.again = false;
    throw worker.fault;
  }

  async #more(worker: Worker): Promise<void> {
    worker.again = false;
    const { items, more } = await this.queue.claim(worker.id, worker.quick ? BATCH : 1);
    if (more) worker.again = true;
    worker.waiting.push(...items);
  }

  async #work(worker: Worker, item: InFlight): Promise<void> {
    const { delivery } = item;
    const age = this.deps.clock.monotonic() - item.since;
    if (item.row !== null && age > STALE_MS) return this.#giveBack(item, worker);
    worker.current = item;
    try {
      const webhook = await this.directory.find(worker.id);
      if (webhook === null) return await this.#end(item, () => this.queue.discard(item));
      if (!webhook.enabled) return await this.#end(item, () => this.queue.hold(item));
      const body = item.body ?? (await this.deps.events.get(delivery.event_id))?.body;
      if (body === undefined) return await this.#end(item, () => this.queue.discard(item));
      await this.#attempt(worker, item, webhook, body);
    } catch (error) {
      this.queue.end(item);
      throw error;
    } finally {
      worker.current = null;
    }
  }

  async #attempt(worker: Worker, item: InFlight, webhook: Webhook, body: string): Promise<void> {
    const { event_id, event, id: delivery_id, made, created_at } = item.delivery;
    const result = await this.sender.send(webhook, { event_id, event, body, delivery_id, attempt: made + 1 });
    this.#attempts.inc({ verdict: result.verdict });
    if (made === 0) this.#first.observe((this.deps.clock.now() - Date.parse(created_at)) / 1000);
    if (this.#abandoned) return;
    worker.quick = result.duration_ms < QUICK_MS;
    // A success before a failure resets the count first.
    if (result.verdict !== 'success') await Promise.all(worker.writes);
    // Counted once it can be seen: pages ask for themselves again.
    const written = this.#end(item, () => this.outcomes.record(item, webhook, result)).finally(
      () => (this.#attempted += 1),
    );
    if (result.verdict !== 'success') {
      await written;
      this.directory.changed(worker.id);
      return;
    }
    const write = written.catch((error: unknown) => void (worker.fault = asError(error)));
    worker.writes.add(write);
    void write.finally(() => worker.writes.delete(write));
    if (worker.writes.size >= UNWRITTEN) await Promise.race(worker.writes);
  }

  async #end(item: InFlight, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } finally {
      this.queue.end(item);
    }
  }

  async #giveBack(item: InFlight, worker?: Worker): Promise<void> {
    if (worker !== undefined) worker.again = true;
    await this.#end(item, () => this.queue.release(item));
  }
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
