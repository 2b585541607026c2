/**
 * From an event to its deliveries (contract 70). Order: the event, with the marker `fan_at` when somebody wants it, and one
 * delivery per webhook, its id computed, so twice is once → the producer is told that both are stored → the marker goes.
 * The reconciler makes the deliveries of an event whose marker a crash left; deliveries whose event a crash kept back wait
 * until the producer's outbox tells it again. A told-again event is looked up first: its webhooks were chosen then.
 */
import { inject, injectable } from '../../kernel/contract.js';
import type { DomainEvent } from '../../ports/events.js';
import { StoreConflict } from '../../ports/store.js';
import { newDelivery } from './delivery.js';
import { DEPS, isoOf, LANES, type Deps } from './deps.js';
import { storedEvent, type StoredEvent } from './event.js';
import { Fresh } from './fresh.js';
import type { Lanes } from './lanes.js';
import { TEST_EVENT } from './names.js';
import { wants, type Webhook } from './webhook.js';

/** A younger marker belongs to a process that is at work. */
const LEFTOVER_MS = 10_000;
const BATCH = 100;
/** An older event may have been told before; outboxes wait longer than this. */
const FRESH_MS = 5_000;

@injectable()
export class Fanout {
  readonly #background = new Set<Promise<void>>();
  readonly #enabled = new Fresh(() => this.#load());

  constructor(
    @inject(DEPS) private readonly deps: Pick<Deps, 'webhooks' | 'events' | 'deliveries' | 'clock' | 'log'>,
    @inject(LANES) private readonly lanes: Lanes,
  ) {}

  /** Resolves when the event and its deliveries are stored. The same event again changes nothing. */
  async store(event: DomainEvent): Promise<void> {
    if (event.event === TEST_EVENT) return;
    const webhooks = (await this.#enabled.read()).filter((webhook) => wants(webhook, event));
    const doc = storedEvent(event, this.deps.clock.iso(), webhooks.length > 0);
    const fresh = this.deps.clock.now() - Date.parse(event.timestamp) < FRESH_MS;
    if (fresh) {
      // Side by side: one commit on the embedded store in place of two.
      await this.#fan(doc, webhooks, this.#insert(doc));
      return;
    }
    const stored = await this.#insert(doc);
    if (stored.fan_at !== undefined) await this.#fan(stored, webhooks);
  }

  /** Finishes what a crash left. Answers how many events. */
  async reconcile(signal?: AbortSignal): Promise<number> {
    const before = isoOf(this.deps.clock.now() - LEFTOVER_MS);
    let after: string | null = null;
    let n = 0;
    do {
      const page: { items: StoredEvent[]; next: string | null } = await this.deps.events.find({
        filter: { fan_at: { gt: '', lt: before } },
        sort: [['fan_at', 'asc']],
        limit: BATCH,
        after,
      });
      const enabled = page.items.length === 0 ? [] : await this.#enabled.read();
      for (const event of page.items) {
        // A webhook that is younger than the event did not ask for it.
        await this.#fan(
          event,
          enabled.filter((w) => wants(w, event) && w.created_at <= event.stored_at),
        );
      }
      n += page.items.length;
      after = signal?.aborted === true ? null : page.next;
    } while (after !== null);
    return n;
  }

  /** Waits for markers on their way out. */
  async settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  async #load(): Promise<Webhook[]> {
    const all: Webhook[] = [];
    let after: string | null = null;
    do {
      const page: { items: Webhook[]; next: string | null } = await this.deps.webhooks.find({
        filter: { enabled: true },
        limit: 1000,
        after,
      });
      all.push(...page.items);
      after = page.next;
    } while (after !== null);
    return all;
  }

  /** The event as it is stored: by us, or by an earlier telling. */
  async #insert(doc: StoredEvent): Promise<StoredEvent> {
    try {
      await this.deps.events.insert(doc);
      return doc;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      return (await this.deps.events.get(doc.id)) ?? doc;
    }
  }

  /** @param storing the event on its way into the store */
  async #fan(event: StoredEvent, webhooks: readonly Webhook[], storing?: Promise<unknown>): Promise<void> {
    const { deliveries, clock } = this.deps;
    const now = clock.iso();
    const rows = webhooks.map(({ id }) => {
      const lease = this.lanes.reserve(id) ? this.lanes.instance : null;
      return newDelivery(id, event, now, lease);
    });
    const inserted = new Set<string>();
    const since = clock.monotonic();
    try {
      const [results] = await Promise.all([
        rows.length === 0 ? [] : deliveries.bulk(rows.map((row) => ({ insert: row }))),
        storing,
      ]);
      rows.forEach((row, i) => 'n' in (results[i] ?? {}) && inserted.add(row.id));
    } finally {
      for (const row of rows) {
        const { webhook_id, lease_by } = row;
        if (lease_by === undefined) this.lanes.wake(webhook_id);
        else if (inserted.has(row.id)) this.lanes.take(webhook_id, { delivery: row, body: event.body, since });
        else this.lanes.free(webhook_id);
      }
    }
    if (event.fan_at !== undefined) this.#clear(event);
  }

  /** Behind the producer's answer: what depends on it is only whether the reconciler looks again. */
  #clear(event: StoredEvent): void {
    const task = this.deps.events.change({ id: event.id, fan_at: event.fan_at }, { unset: ['fan_at'] }).then(
      () => undefined,
      (err: unknown) => this.deps.log.warn({ err, event: event.id }, 'a marker stays; the reconciler takes it'),
    );
    this.#background.add(task);
    void task.finally(() => this.#background.delete(task));
  }
}
