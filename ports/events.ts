/**
 * Domain events, typed, in process. Each listener is isolated: one that throws never reaches its neighbour.
 *
 * Durability is the producer's: the event is kept in the changed document (an `outbox` element with its id) in the same
 * atomic write as the change, is emitted afterwards, and leaves the document when `emit` answers true. A reconciler
 * emits again what a crash left behind, with the same id; durable listeners are idempotent by that id.
 */
import type { EventType } from './token.js';

export interface DomainEvent<T = unknown> {
  /** `evt_<uuidv7>`; the same on every repeat. */
  id: string;
  event: string;
  /** When the change happened; RFC 3339 UTC. */
  timestamp: string;
  project_slug: string | null;
  data: T;
}

export interface ListenSpec<T = unknown> {
  /** An event name, or `*`. */
  event: string;
  /** A durable listener stores the event before it returns; its failure keeps the event in the producer's outbox. */
  durable?: boolean;
  handle(event: DomainEvent<T>): Promise<void> | void;
}

export interface EventBus {
  on(owner: string, listener: ListenSpec): void;
  /** Resolves when every listener has finished. False when a durable one failed: emit it again later. Never throws. */
  emit<T>(event: DomainEvent<T>): Promise<boolean>;
}

/** A listener whose `handle` is typed by the event. */
export function listen<T>(
  { event }: EventType<T>,
  handle: (event: DomainEvent<T>) => Promise<void> | void,
  options: { durable?: boolean } = {},
): ListenSpec {
  return { event, ...options, handle: (received) => handle(received as DomainEvent<T>) };
}

export type { EventType };
