/** The writer's own work between the batches: it settles marked rows (unsettled.ts), a slice at a time. */
import type { Connection } from './connection.js';
import { ALL, settle, SETTLE_MS, tablesWithMarks } from './unsettled.js';

export class Settling {
  readonly #connection: Connection;
  #timer: NodeJS.Timeout | null = null;

  /** What a process that was killed left behind is settled too. */
  constructor(connection: Connection) {
    this.#connection = connection;
    for (const name of tablesWithMarks(connection)) connection.unsettled.add(name);
    this.later();
  }

  /** After every batch. */
  later(ms = SETTLE_MS): void {
    if (this.#timer !== null || this.#connection.unsettled.size === 0) return;
    this.#timer = setTimeout(() => this.#slice(), ms);
  }

  /** A message that has arrived meanwhile comes before the next slice. */
  #slice(): void {
    this.#timer = null;
    const [name] = this.#connection.unsettled;
    if (name === undefined) return;
    try {
      const more = this.#connection.transaction(() => settle(this.#connection, name));
      if (!more) this.#connection.unsettled.delete(name);
      this.later(more ? 0 : SETTLE_MS);
    } catch {
      // The disk is full, or another process holds the lock. Nothing is wrong without it, only slower: it is tried again.
      this.later();
    }
  }

  /** All of it, before the connection closes. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const name of this.#connection.unsettled) {
      this.#connection.transaction(() => settle(this.#connection, name, ALL));
    }
  }
}
