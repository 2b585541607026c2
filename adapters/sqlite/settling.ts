/**
 * The writer's own work between the batches: it settles marked rows (unsettled.ts) and takes documents into look-ups
 * (lookups.ts), a slice at a time.
 */
import type { Connection } from './connection.js';
import { tablesWithLookups } from './lookups/tables.js';
import { takeIn } from './lookups/lookups.js';
import { makeSome } from './indexing/later.js';
import { tablesWithLater } from './indexing/later-state.js';
import { ALL, settle, SETTLE_MS, tablesWithMarks } from './unsettled.js';

/** At least, between two slices of what was there before its look-ups or columns: half of the writer's time at most. */
const EARLIER_MS = 10;

export class Settling {
  readonly #connection: Connection;
  #timer: NodeJS.Timeout | null = null;

  /** What a process that was killed left behind is done too. */
  constructor(connection: Connection) {
    this.#connection = connection;
    const names = [tablesWithMarks(connection), tablesWithLookups(connection), tablesWithLater(connection)].flat();
    for (const name of names) connection.unsettled.add(name);
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
    const began = performance.now();
    try {
      const wait = this.#settled(name);
      // An index is made in one step, which may take seconds.
      this.later(wait === EARLIER_MS ? Math.max(wait, performance.now() - began) : wait);
    } catch {
      // The disk is full, or another process holds the lock. Nothing is wrong without it, only slower: it is tried again, when
      // the other tables have had their turn.
      this.#connection.unsettled.delete(name);
      this.#connection.unsettled.add(name);
      this.later();
    }
  }

  /** When there is more to do, in milliseconds. */
  #settled(name: string): number {
    const { unsettled } = this.#connection;
    const marked = this.#connection.transaction(() => settle(this.#connection, name));
    const left = this.#connection.transaction(() => takeIn(this.#connection, name));
    const later = this.#connection.transaction(() => makeSome(this.#connection, name));
    // The next table has its turn.
    unsettled.delete(name);
    if (marked || left !== null || later) unsettled.add(name);
    if (marked || left === 'noted') return 0;
    return left === 'earlier' || later ? EARLIER_MS : SETTLE_MS;
  }

  /** All marked rows, before the connection closes. What is noted for look-ups waits for the next start. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const name of this.#connection.unsettled) {
      this.#connection.transaction(() => settle(this.#connection, name, ALL));
    }
  }
}
