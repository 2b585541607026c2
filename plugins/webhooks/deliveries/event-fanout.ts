/**
 * Order: store the event with the marker `fan_at` → store the deliveries → confirm to the producer
 * → clear the marker and start the workers (contract 70). A process that sees another one's marker
 * unchanged for `STALE_MARKER_MS` of its monotonic clock inserts the missing deliveries; their ids
 * are computed.
 */
import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { iterateItems } from '../../../lib/paging.js';
import { StalenessTracker } from '../../../lib/staleness.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';
import type { DomainEvent } from '../../../ports/events.js';
import { type FindQuery, StoreConflict } from '../../../ports/store/index.js';
import { createDelivery } from '../model/delivery.js';
import { DEPS } from '../deps.js';
import { WebhookCache } from '../registry/webhook-cache.js';
import { toStoredEvent, type StoredEvent, addPageUrl } from '../model/stored-event.js';
import { DeliveryWorkerPool } from './delivery-workers.js';
import { DeliveryQueue } from './delivery-queue.js';
import { TEST_EVENT } from '../model/event-names.js';
import { isSubscribedTo } from '../model/webhook.js';

export const STALE_MARKER_MS = 15_000;
const BATCH_SIZE = 100;
const CLEAR_DELAY_MS = 50;

type MarkedEvent = Pick<StoredEvent, 'id' | 'fan_by' | 'fan_at'>;

@injectable()
export class EventFanout {
  readonly #markers: StalenessTracker;
  readonly #failed = new Set<string>();
  #done: string[] = [];
  #clearing: Promise<void> | null = null;

  constructor(
    @inject(DEPS.events) private readonly events: Collection<StoredEvent>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.baseUrl) private readonly baseUrl: () => string,
    @inject(WebhookCache) private readonly directory: WebhookCache,
    @inject(DeliveryWorkerPool) private readonly workers: DeliveryWorkerPool,
    @inject(DeliveryQueue) private readonly queue: DeliveryQueue,
  ) {
    this.#markers = new StalenessTracker(() => this.clock.monotonic());
  }

  /** Resolves when event and deliveries are stored. Idempotent. */
  async store(event: DomainEvent): Promise<void> {
    if (event.event === TEST_EVENT) return;
    const to = (await this.directory.listEnabled())
      .filter((webhook) => isSubscribedTo(webhook, event))
      .map(({ id }) => id);
    const { clock, baseUrl } = this;
    const doc = toStoredEvent(addPageUrl(event, baseUrl()), clock.iso(), this.queue.instanceId, to);
    try {
      await this.events.insert(doc);
    } catch (error) {
      // A repeated event's marker, if any, leads to its webhooks.
      if (error instanceof StoreConflict) return;
      throw error;
    }
    if (to.length > 0) await this.#deliver(doc, to);
  }

  /** Due immediately; existing ones stay unchanged. Never rejects. */
  async #deliver(event: StoredEvent, to: readonly string[]): Promise<void> {
    const now = this.clock.iso();
    try {
      await this.queue.insert(to.map((webhook) => createDelivery(webhook, event, now)));
    } catch (err) {
      this.#failed.add(event.id);
      this.log.warn({ err, event: event.id }, 'deliveries could not be stored; this will be retried');
      return;
    }
    this.#clearMarkers(event.id);
    for (const webhook of to) this.workers.wake(webhook);
  }

  async reconcile(): Promise<number> {
    const { events, clock } = this;
    const old = await this.#listOldMarkers();
    for (let i = 0; i < old.length; i += BATCH_SIZE) {
      const now = clock.iso();
      const chunk = old.slice(i, i + BATCH_SIZE);
      const updateResults = await events.bulk(
        chunk.map(({ id, fan_by, fan_at }) => ({
          change: { id, fan_by, fan_at },
          update: { set: { fan_by: this.queue.instanceId, fan_at: now } },
        })),
      );
      chunk.forEach(({ id }, n) => (updateResults[n] as { n?: number } | undefined)?.n === 1 && this.#failed.add(id));
      await Promise.all([...this.#failed].map((id) => this.#insertMissing(id)));
    }
    if (old.length === 0) await Promise.all([...this.#failed].map((id) => this.#insertMissing(id)));
    return old.length;
  }

  /**
   * Returns unchanged ones of other processes. Reads all of them, because their age is only known
   * by observation.
   */
  async #listOldMarkers(): Promise<MarkedEvent[]> {
    const round = this.#markers.startRound();
    const old: MarkedEvent[] = [];
    const marked: FindQuery = {
      filter: { fan_at: { gt: '' }, fan_by: { ne: this.queue.instanceId } },
      sort: [['fan_at', 'asc']],
      limit: BATCH_SIZE,
    };
    for await (const { id, fan_by, fan_at } of iterateItems(this.events, marked)) {
      if (round.getAgeMs(`${id} ${fan_by} ${fan_at}`) >= STALE_MARKER_MS) old.push({ id, fan_by, fan_at });
    }
    round.end();
    return old;
  }

  async #insertMissing(id: string): Promise<void> {
    const event = await this.events.get(id);
    this.#failed.delete(id);
    if (event !== null) await this.#deliver(event, event.fan_to ?? []);
  }

  async waitUntilIdle(): Promise<void> {
    await yieldToEventLoop();
    while (this.#clearing !== null) await this.#clearing;
  }

  #clearMarkers(id: string): void {
    this.#done.push(id);
    this.#clearing ??= this.#scheduleClear();
  }

  async #scheduleClear(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, CLEAR_DELAY_MS));
    const done = this.#done;
    this.#done = [];
    this.#clearing = null;
    const update = { unset: ['fan_at', 'fan_by', 'fan_to'] };
    try {
      await this.events.changeMany({ id: { in: done }, fan_by: this.queue.instanceId }, update);
    } catch (err) {
      for (const id of done) this.#failed.add(id);
      this.log.warn({ err }, 'markers of events could not be removed; this will be retried');
    }
  }
}
