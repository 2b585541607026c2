/**
 * Workers: one per webhook and process, in each one attempt at a time, none waiting for another (contract 70, delivery). New
 * deliveries come to them in memory, behind the answer to the producer; what waits there for too long goes to the store,
 * and the workers ask the store for what is due.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { DEPS, DIRECTORY, LEASES, WRITER, OUTCOMES, SENDER, type Deps } from '../deps.js';
import type { Directory } from '../registry/directory.js';
import { STALE_MS, type Leases } from './leases.js';
import type { InFlight, DeliveryWriter } from './delivery-writer.js';
import type { Outcomes } from './outcomes.js';
import { EventLoopThrottle } from './event-loop-throttle.js';
import type { Sender } from '../sending/sender.js';
import type { Webhook } from '../registry/webhook.js';

const POLL_MS = 1_000;
/** A worker takes this many at once while its receiver is quick. */
const BATCH = 16;
const QUICK_MS = 250;
/** Successes whose writes the next attempts do not wait for: they share a commit. */
const UNWRITTEN = 64;
const PAGE = 200;
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
  queue: InFlight[];
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
  readonly #others: (() => Promise<unknown>)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sweeper: NodeJS.Timeout | null = null;
  #polling: Promise<void> = Promise.resolve();
  #open = false;
  /** The store may be closed by now. */
  #abandoned = false;

  readonly #attempts: ReturnType<Deps['metrics']['counter']>;
  readonly #first: ReturnType<Deps['metrics']['histogram']>;

  constructor(
    @inject(DEPS)
    private readonly deps: Pick<Deps, 'webhooks' | 'events' | 'deliveries' | 'clock' | 'log' | 'metrics'>,
    @inject(DIRECTORY) private readonly directory: Directory,
    @inject(LEASES) private readonly leases: Leases,
    @inject(WRITER) private readonly writer: DeliveryWriter,
    @inject(SENDER) private readonly sender: Sender,
    @inject(OUTCOMES) private readonly outcomes: Outcomes,
  ) {
    const { metrics } = this.deps;
    this.#attempts = metrics.counter('aos_webhook_attempts_total', 'Attempts of webhook deliveries, by verdict');
    this.#first = metrics.histogram(
      'aos_webhook_first_attempt_seconds',
      'From the creation of a delivery to the end of its first attempt',
      [0.05, 0.1, 0.2, 0.5, 1, 5, 15, 60],
    );
  }

  get instance(): string {
    return this.leases.instance;
  }

  /** New deliveries that are not in the store yet. */
  get rowless(): number {
    let n = 0;
    for (const { queue } of this.#workers.values()) for (const { row } of queue) if (row === null) n += 1;
    return n;
  }

  /** Runs `work` whenever the workers look for what is due. */
  alsoPoll(work: () => Promise<unknown>): void {
    this.#others.push(work);
  }

  start(): void {
    this.#open = true;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    const next = (): void => {
      this.#polling = this.#pollAgain(next);
    };
    next();
  }

  /**
   * Begins nothing more and gives back what was leased and not begun. Attempts under way get `patienceMs`; one that takes
   * longer is left to its lease, and repeated.
   */
  async stop(patienceMs = STOP_MS): Promise<void> {
    this.#open = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    await this.#polling;
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

  /** A new delivery, which has no row yet. */
  offer(held: InFlight): void {
    const worker = this.#worker(held.delivery.webhook_id);
    if (!this.#open || worker.queue.length >= MOST_WAITING) return this.#put(worker, [held]);
    this.#push(worker, held);
    this.#kick(worker);
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

  /** Wakes the workers that have something due, and takes back leases of processes that are gone. */
  async poll(): Promise<void> {
    await this.leases.takeBack();
    for (const work of this.#others) await work();
    const ids = await this.#webhookIds();
    for (const id of this.#workers.keys()) if (!ids.includes(id) && !this.#busy(id)) this.#workers.delete(id);
    let asleep = ids.filter((id) => !this.#busy(id));
    let full = asleep.length > 0;
    while (full && this.#open) {
      const { items, next } = await this.deps.deliveries.find({
        filter: { webhook_id: { in: asleep }, next_at: { gt: '', lte: this.deps.clock.iso() } },
        sort: [
          ['webhook_id', 'asc'],
          ['next_at', 'asc'],
        ],
        limit: PAGE,
      });
      const due = new Set(items.map(({ webhook_id }) => webhook_id));
      for (const id of due) this.wake(id);
      asleep = asleep.filter((id) => !due.has(id));
      full = next !== null && asleep.length > 0;
    }
  }

  async #pollAgain(next: () => void): Promise<void> {
    try {
      await this.poll();
    } catch (err) {
      this.deps.log.error({ err }, 'looking for due deliveries failed; it is repeated');
    }
    if (this.#open) this.#timer = setTimeout(next, POLL_MS);
  }

  #worker(id: string): Worker {
    let worker = this.#workers.get(id);
    if (worker === undefined) {
      const [queue, writes] = [[], new Set<Promise<void>>()];
      worker = { id, queue, current: null, running: false, again: false, quick: true, writes, fault: null };
      this.#workers.set(id, worker);
    }
    return worker;
  }

  #busy(id: string): boolean {
    return this.#workers.get(id)?.running === true;
  }

  async #webhookIds(): Promise<string[]> {
    const ids: string[] = [];
    let after: string | null = null;
    do {
      const page: { items: Webhook[]; next: string | null } = await this.deps.webhooks.find({ limit: 1000, after });
      ids.push(...page.items.map(({ id }) => id));
      after = page.next;
    } while (after !== null);
    return ids;
  }

  #push(worker: Worker, held: InFlight): void {
    this.leases.begin(held.delivery.id);
    worker.queue.push(held);
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
      if ((worker.again || worker.queue.length > 0) && this.#open) this.#kick(worker);
    });
    this.#runs.add(done);
  }

  /** What waits for too long, or is under way for long, gets its row. */
  #sweep(): void {
    const now = this.deps.clock.monotonic();
    for (const worker of this.#workers.values()) {
      if (worker.current !== null && now - worker.current.since > SEEN_MS) this.#keep(worker.current);
      const old = worker.queue.filter(({ row, since }) => row === null && now - since > ROWLESS_MS);
      if (old.length === 0) continue;
      worker.queue = worker.queue.filter((held) => !old.includes(held));
      this.#put(worker, old);
    }
  }

  /** A failure is reported by the writer: `lost`. */
  #keep(held: InFlight): void {
    this.writer.keep(held).catch((err: unknown) => this.deps.log.warn({ err }, 'a delivery could not be stored yet'));
  }

  /** Into the store, from where the worker takes it again. */
  #put(worker: Worker, held: readonly InFlight[]): void {
    const done = Promise.all(held.map((one) => this.#end(one, () => this.writer.free(one))))
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
        const held = worker.queue.shift();
        if (held !== undefined) await this.#work(worker, held);
        else if (worker.again) await this.#more(worker);
        else break;
      }
    } catch (error) {
      worker.fault = asError(error);
    }
    await Promise.all(worker.writes);
    const left = this.#open && worker.fault === null ? [] : worker.queue.splice(0);
    if (!this.#abandoned) await Promise.all(left.map((held) => this.#giveBack(held)));
    if (worker.fault === null) return;
    worker.again = false;
    throw worker.fault;
  }

  async #more(worker: Worker): Promise<void> {
    worker.again = false;
    const { leased, more } = await this.leases.claim(worker.id, worker.quick ? BATCH : 1);
    if (more) worker.again = true;
    const since = this.deps.clock.monotonic();
    const row = Promise.resolve(true);
    for (const delivery of leased) this.#push(worker, { delivery, body: null, since, row, kept: null, lost: null });
  }

  async #work(worker: Worker, held: InFlight): Promise<void> {
    const { delivery } = held;
    const age = this.deps.clock.monotonic() - held.since;
    if (held.row !== null && age > STALE_MS) return this.#giveBack(held, worker);
    worker.current = held;
    try {
      const webhook = await this.directory.find(worker.id);
      if (webhook === null) return await this.#end(held, () => this.writer.discard(held));
      if (!webhook.enabled) return await this.#end(held, () => this.writer.hold(held));
      const body = held.body ?? (await this.deps.events.get(delivery.event_id))?.body;
      if (body === undefined) return await this.#end(held, () => this.writer.discard(held));
      await this.#attempt(worker, held, webhook, body);
    } finally {
      worker.current = null;
    }
  }

  async #attempt(worker: Worker, held: InFlight, webhook: Webhook, body: string): Promise<void> {
    const { event_id, event, id: delivery_id, made, created_at } = held.delivery;
    const result = await this.sender.send(webhook, { event_id, event, body, delivery_id, attempt: made + 1 });
    this.#attempts.inc({ verdict: result.verdict });
    if (made === 0) this.#first.observe((this.deps.clock.now() - Date.parse(created_at)) / 1000);
    if (this.#abandoned) return;
    worker.quick = result.duration_ms < QUICK_MS;
    // A success before a failure resets the count first.
    if (result.verdict !== 'success') await Promise.all(worker.writes);
    const written = this.#end(held, () => this.outcomes.record(held, webhook, result));
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

  async #end(held: InFlight, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } finally {
      this.leases.end(held.delivery.id);
    }
  }

  async #giveBack(held: InFlight, worker?: Worker): Promise<void> {
    if (worker !== undefined) worker.again = true;
    await this.#end(held, () => this.writer.free(held));
  }
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
