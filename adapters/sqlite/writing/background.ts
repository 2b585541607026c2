/**
 * The writer's own work between the batches, a slice at a time: indexes catch up with marked rows (catch-up.ts),
 * look-ups take in documents (lookups.ts), and large tables get their new indexes (building.ts).
 */
import type { Connection } from '../connection/connection.js';
import { tablesWithLookups } from '../schema/lookup-tables.js';
import { takeIn } from '../lookups/lookups.js';
import { buildSome } from '../indexing/building.js';
import { tablesWithBuilds } from '../schema/index-builds.js';
import { ALL, catchUp, CATCH_UP_MS, tablesWithMarks } from '../indexing/catch-up.js';

/** Milliseconds between two slices over earlier documents: they take half of the writer's time at the most. */
const EARLIER_MS = 10;

export class BackgroundWork {
  readonly #connection: Connection;
  #timer: NodeJS.Timeout | null = null;

  /** Takes up what a killed process left behind. */
  constructor(connection: Connection) {
    this.#connection = connection;
    const names = [tablesWithMarks(connection), tablesWithLookups(connection), tablesWithBuilds(connection)].flat();
    for (const name of names) connection.backlog.add(name);
    this.later();
  }

  /** After every batch. */
  later(ms = CATCH_UP_MS): void {
    if (this.#timer !== null || this.#connection.backlog.size === 0) return;
    this.#timer = setTimeout(() => this.#slice(), ms);
  }

  /** A message that has arrived meanwhile comes before the next slice. */
  #slice(): void {
    this.#timer = null;
    const [name] = this.#connection.backlog;
    if (name === undefined) return;
    const began = performance.now();
    try {
      const wait = this.#step(name);
      // An index is made in one step, which may take seconds.
      this.later(wait === EARLIER_MS ? Math.max(wait, performance.now() - began) : wait);
    } catch {
      // The disk is full or read-only, a page is damaged, or another process holds the lock. Nothing is wrong without
      // this work, only slower. Whoever reads or writes is told; here it is tried again when the other tables have
      // had their turn.
      this.#connection.backlog.delete(name);
      this.#connection.backlog.add(name);
      this.later();
    }
  }

  /** When there is more to do, in milliseconds. */
  #step(name: string): number {
    const { backlog } = this.#connection;
    const marked = this.#connection.transaction(() => catchUp(this.#connection, name));
    const left = this.#connection.transaction(() => takeIn(this.#connection, name));
    const building = this.#connection.transaction(() => buildSome(this.#connection, name));
    // The next table has its turn.
    backlog.delete(name);
    if (marked || left !== null || building) backlog.add(name);
    if (marked || left === 'noted') return 0;
    return left === 'earlier' || building ? EARLIER_MS : CATCH_UP_MS;
  }

  /** All marked rows, before the connection closes. What is noted for look-ups waits for the next start. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const name of this.#connection.backlog) {
      try {
        this.#connection.transaction(() => catchUp(this.#connection, name, ALL));
      } catch {
        // As in `#slice`: the next start does the rest.
      }
    }
  }
}
