/**
 * Reports that wait for the server: one text each in a store of their own (`<cacheDir>/aos-errors`), so that they
 * outlive the process, also a `kill -9`, and that processes which share it need no lock. A report may be sent twice;
 * its `client_ref` makes the second count nothing. Writing is synchronous: an exception that ends the process leaves
 * time for nothing else.
 */
import { randomId } from '../runtime.js';
import type { Store } from '../store.js';

/** More are not kept; the oldest go first. */
export const MAX_QUEUED = 200;
const MAX_AGE_MS = 7 * 24 * 3_600_000;
const NAME = /^(\d{15})-[0-9a-f-]{32,36}\.json$/;

export class Queue {
  #last = 0;

  constructor(private readonly store: Store) {}

  /** The report's name in the queue; null where the folder cannot be written to. */
  put(text: string): string | null {
    // Strictly rising, so that the reports of one process keep their order.
    this.#last = Math.max(Date.now(), this.#last + 1);
    const name = `${String(this.#last).padStart(15, '0')}-${randomId()}.json`;
    // A full store gives up its oldest reports; one that keeps nothing has none.
    while (!this.store.put(name, text)) {
      const [oldest] = this.names();
      if (oldest === undefined || !this.store.remove(oldest)) return null;
    }
    for (const oldest of this.names().slice(0, -MAX_QUEUED)) this.remove(oldest);
    return name;
  }

  /** Oldest first. What is too old is removed. */
  names(): string[] {
    const now = Date.now();
    const names: string[] = [];
    for (const name of this.store.names().sort()) {
      const at = NAME.exec(name)?.[1];
      if (at === undefined) continue;
      if (Number(at) < now - MAX_AGE_MS) this.remove(name);
      else names.push(name);
    }
    return names;
  }

  /** Null: another process has sent it, or it is no report. */
  read(name: string): Record<string, unknown> | null {
    try {
      return JSON.parse(this.store.read(name) ?? '') as Record<string, unknown>;
    } catch {
      return null;
    }
  }

  remove(name: string): void {
    this.store.remove(name);
  }
}
