/**
 * Lanes: one per webhook and process, in each one attempt at a time, none waiting for another (contract 70, delivery). A
 * lane that is free takes a new delivery with its insertion; else the lanes ask the store for what is due.
 */
import { inject, injectable } from '../../kernel/contract.js';
import type { Delivery } from './delivery.js';
import { DEPS, LEASES, OUTCOMES, SENDER, type Deps } from './deps.js';
import { STALE_MS, type Leases } from './leases.js';
import type { Outcomes } from './outcomes.js';
import { Pacer } from './pacer.js';
import type { Sender } from './sender.js';
import type { Webhook } from './webhook.js';

const POLL_MS = 1_000;
/** A lane takes this many at once while its receiver is quick. */
const BATCH = 16;
const QUICK_MS = 250;
/** Successes whose writes the next attempts do not wait for: they share a commit. */
const UNWRITTEN = 16;
const PAGE = 200;
/** Of the ten seconds that a service has for its end (contract 95, shutdown). */
const STOP_MS = 5_000;

/** A delivery under this process's lease. */
export interface Held {
  delivery: Delivery;
  /** The payload, where it is at hand. */
  body: string | null;
  /** `clock.monotonic()` when it was leased. */
  since: number;
}

interface Lane {
  id: string;
  queue: Held[];
  running: boolean;
  /** Promised to a delivery that is being inserted. */
  reserved: boolean;
  /** Something may be due. */
  again: boolean;
  quick: boolean;
  /** Writes of successes, which the next attempts do not wait for. */
  writes: Set<Promise<void>>;
  /** One of them failed; the lane stops, and what it leased is taken back. */
  fault: Error | null;
}

@injectable()
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #runs = new Set<Promise<void>>();
  readonly #pacer = new Pacer();
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> = Promise.resolve();
  #open = false;
  /** The store may be closed by now. */
  #abandoned = false;

  readonly #attempts: ReturnType<Deps['metrics']['counter']>;
  readonly #first: ReturnType<Deps['metrics']['histogram']>;

  constructor(
    @inject(DEPS)
    private readonly deps: Pick<Deps, 'webhooks' | 'events' | 'deliveries' | 'clock' | 'log' | 'metrics'>,
    @inject(LEASES) private readonly leases: Leases,
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

  start(): void {
    this.#open = true;
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
    await this.#polling;
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

  /** Whether a delivery may be inserted under this process's lease, because the lane is free. Then `take` or `free`. */
  reserve(webhook: string): boolean {
    const lane = this.#lane(webhook);
    if (!this.#open || lane.running || lane.reserved) return false;
    return (lane.reserved = true);
  }

  take(webhook: string, held: Held): void {
    const lane = this.#lane(webhook);
    lane.reserved = false;
    this.#push(lane, held);
    this.#kick(lane);
  }

  free(webhook: string): void {
    const lane = this.#lane(webhook);
    lane.reserved = false;
    if (lane.again) this.#kick(lane);
  }

  /** Something of this webhook is due. */
  wake(webhook: string): void {
    const lane = this.#lane(webhook);
    lane.again = true;
    this.#kick(lane);
  }

  /** Resolves when no lane runs: for tests and for tools. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(this.#runs);
  }

  /** Wakes the lanes that have something due, and takes back leases of processes that are gone. */
  async poll(): Promise<void> {
    await this.leases.takeBack();
    const ids = await this.#webhookIds();
    for (const id of this.#lanes.keys()) if (!ids.includes(id) && !this.#busy(id)) this.#lanes.delete(id);
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

  #lane(id: string): Lane {
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      const [queue, writes] = [[], new Set<Promise<void>>()];
      lane = { id, queue, running: false, reserved: false, again: false, quick: true, writes, fault: null };
      this.#lanes.set(id, lane);
    }
    return lane;
  }

  #busy(id: string): boolean {
    const lane = this.#lanes.get(id);
    return lane !== undefined && (lane.running || lane.reserved);
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

  #push(lane: Lane, held: Held): void {
    this.leases.begin(held.delivery.id);
    lane.queue.push(held);
  }

  #kick(lane: Lane): void {
    if (!this.#open || lane.running || lane.reserved) return;
    lane.running = true;
    const run = this.#pacer
      .run(() => this.#drain(lane))
      .catch((err: unknown) => {
        this.deps.log.error({ err, webhook: lane.id }, 'a delivery could not be worked on; it is repeated');
      });
    const done = run.finally(() => {
      lane.running = false;
      this.#runs.delete(done);
      // What came in while the last look found nothing.
      if (lane.again && this.#open) this.#kick(lane);
    });
    this.#runs.add(done);
  }

  async #drain(lane: Lane): Promise<void> {
    lane.fault = null;
    try {
      while (this.#open && lane.fault === null) {
        const held = lane.queue.shift();
        if (held !== undefined) await this.#work(lane, held);
        else if (lane.again) await this.#more(lane);
        else break;
      }
    } catch (error) {
      lane.fault = asError(error);
    }
    await Promise.all(lane.writes);
    const left = lane.queue.splice(0);
    if (!this.#abandoned) await Promise.all(left.map((held) => this.#giveBack(held)));
    if (lane.fault === null) return;
    lane.again = false;
    throw lane.fault;
  }

  async #more(lane: Lane): Promise<void> {
    lane.again = false;
    const { leased, more } = await this.leases.claim(lane.id, lane.quick ? BATCH : 1);
    if (more) lane.again = true;
    const since = this.deps.clock.monotonic();
    for (const delivery of leased) this.#push(lane, { delivery, body: null, since });
  }

  async #work(lane: Lane, held: Held): Promise<void> {
    const { delivery } = held;
    if (this.deps.clock.monotonic() - held.since > STALE_MS) return this.#giveBack(held, lane);
    const webhook = await this.deps.webhooks.get(lane.id);
    if (webhook === null) return this.#end(held, () => this.leases.discard(delivery));
    if (!webhook.enabled) return this.#end(held, () => this.leases.hold(delivery));
    const body = held.body ?? (await this.deps.events.get(delivery.event_id))?.body;
    if (body === undefined) return this.#end(held, () => this.leases.orphan(delivery));
    const { event_id, event, id: delivery_id, made } = delivery;
    const result = await this.sender.send(webhook, { event_id, event, body, delivery_id, attempt: made + 1 });
    this.#attempts.inc({ verdict: result.verdict });
    if (made === 0) this.#first.observe((this.deps.clock.now() - Date.parse(delivery.created_at)) / 1000);
    if (this.#abandoned) return;
    lane.quick = result.duration_ms < QUICK_MS;
    if (result.verdict !== 'success') {
      // A success before it resets the count first.
      await Promise.all(lane.writes);
      return this.#end(held, () => this.outcomes.record(delivery, result));
    }
    const written = this.#end(held, () => this.outcomes.record(delivery, result));
    const write = written.catch((error: unknown) => void (lane.fault = asError(error)));
    lane.writes.add(write);
    void write.finally(() => lane.writes.delete(write));
    if (lane.writes.size >= UNWRITTEN) await Promise.race(lane.writes);
  }

  async #end(held: Held, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } finally {
      this.leases.end(held.delivery.id);
    }
  }

  async #giveBack(held: Held, lane?: Lane): Promise<void> {
    if (lane !== undefined) lane.again = true;
    await this.#end(held, () => this.leases.release(held.delivery));
  }
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
