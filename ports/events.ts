/**
 * In-process domain events; a failing listener does not affect others.
 *
 * Producers ensure durability: the event is written atomically with the change as an `outbox`
 * element and removed when `emit` returns true. A reconciler re-emits leftovers with the same id,
 * by which durable listeners are idempotent.
 */
import type { EventType } from './token.js';

export interface DomainEvent<T = unknown> {
  /** `evt_<uuidv7>`; unchanged in repeats. */
  id: string;
  event: string;
  /** Time of the change, RFC 3339 UTC. */
  timestamp: string;
  project_slug: string | null;
  data: T;
}

export interface ListenSpec<T = unknown> {
  /** Event name, or `*`. */
  event: string;
  /**
   * Durable listeners store the event before returning; their failure keeps it in the producer's
   * outbox.
   */
  durable?: boolean;
  handle(event: DomainEvent<T>): Promise<void> | void;
}

export interface EventBus {
  on(owner: string, listener: ListenSpec): void;
  /**
   * Emits an event; resolves when every listener has finished. Never throws.
   * @returns false when a durable listener failed: emit again later
   */
  emit<T>(event: DomainEvent<T>): Promise<boolean>;
}

/** Creates a listener with a typed `handle`. */
export function listen<T>(
  { event }: EventType<T>,
  handle: (event: DomainEvent<T>) => Promise<void> | void,
  options: { durable?: boolean } = {},
): ListenSpec {
  return { event, ...options, handle: (received) => handle(received as DomainEvent<T>) };
}

export type { EventType };
