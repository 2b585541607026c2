/** In-process event bus. Listeners run concurrently and isolated. */
import type { DomainEvent, EventBus, ListenSpec } from '../ports/events.js';
import type { Logger } from '../ports/logger.js';
import { runWithTimeout } from './timeout.js';

interface RegisteredListener extends ListenSpec {
  owner: string;
  ready: () => boolean;
}

export class InProcessEvents implements EventBus {
  readonly #listeners: RegisteredListener[] = [];
  readonly #underWay = new Set<Promise<boolean>>();

  /** @param timeoutMs afterwards a listener counts as failed */
  constructor(
    private readonly log: Logger,
    private readonly timeoutMs = 30_000,
  ) {}

  /** @param ready false: durable listeners keep events in the outbox */
  on(owner: string, listener: ListenSpec, ready: () => boolean = () => true): void {
    const { event, durable } = listener;
    this.#listeners.push({ owner, ready, event, durable, handle: (e) => listener.handle(e) });
  }

  async emit<T>(event: DomainEvent<T>): Promise<boolean> {
    const frozen = Object.freeze({ ...event });
    const listeners = this.#listeners.filter((l) => l.event === '*' || l.event === event.event);
    const delivered = Promise.all(listeners.map((listener) => this.#notify(listener, frozen))).then((results) =>
      results.every((ok) => ok),
    );
    this.#underWay.add(delivered);
    try {
      return await delivered;
    } finally {
      this.#underWay.delete(delivered);
    }
  }

  async waitUntilIdle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** False only when a durable listener did not store the event. */
  async #notify(listener: RegisteredListener, event: DomainEvent): Promise<boolean> {
    if (!listener.ready()) return listener.durable !== true;
    try {
      await runWithTimeout(this.timeoutMs, `the listener of ${listener.owner}`, () => listener.handle(event));
      return true;
    } catch (err) {
      this.log.error({ err, plugin: listener.owner, event: event.event, event_id: event.id }, 'a listener failed');
      return listener.durable !== true;
    }
  }
}
