/**
 * In-process domain events; a failing listener does not affect others. Durability: the event is
 * written atomically with the change as an `outbox` element and removed when `emit` returns true; a
 * reconciler re-emits leftovers with the same id.
 */
import type { EventType } from './token.js';

export interface DomainEvent<T = unknown> {
  id: string;
  event: string;
  /** Time of the change, RFC 3339 UTC. */
  timestamp: string;
  project_slug: string | null;
  data: T;
}

export interface ListenSpec<T = unknown> {
  event: string;
  /** Stores the event before returning; a failure keeps it in the producer's outbox. */
  durable?: boolean;
  handle(event: DomainEvent<T>): Promise<void> | void;
}

export interface EventBus {
  on(owner: string, listener: ListenSpec): void;
  /**
   * Resolves when every listener has finished; never throws.
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
