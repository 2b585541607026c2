/**
 * Queue of unsent reports (`<cacheDir>/aos-errors`), which survives `kill -9` and needs no lock
 * between processes. Writing is synchronous, because a crashing process has no time for more.
 */
import { createRandomId } from '../runtime.js';
import type { TextStore } from '../store.js';

/** The oldest are removed first. */
export const MAX_QUEUED_REPORTS = 200;
const MAX_AGE_MS = 7 * 24 * 3_600_000;
const NAME_PATTERN = /^(\d{15})-[0-9a-f-]{32,36}\.json$/;

export class ReportQueue {
  #last = 0;

  constructor(private readonly store: TextStore) {}

  /**
   * Adds a report.
   * @returns its name in the queue; null when the folder is not writable
   */
  add(text: string): string | null {
    // Strictly increasing, so that the reports of one process stay in order.
    this.#last = Math.max(Date.now(), this.#last + 1);
    const name = `${String(this.#last).padStart(15, '0')}-${createRandomId()}.json`;
    // A full store drops its oldest reports; one without storage has none.
    while (!this.store.write(name, text)) {
      const [oldest] = this.listNames();
      if (oldest === undefined || !this.store.remove(oldest)) return null;
    }
    for (const oldest of this.listNames().slice(0, -MAX_QUEUED_REPORTS)) this.remove(oldest);
    return name;
  }

  /** Lists names, oldest first, and removes expired reports. */
  listNames(): string[] {
    const now = Date.now();
    const names: string[] = [];
    for (const name of this.store.listNames().sort()) {
      const at = NAME_PATTERN.exec(name)?.[1];
      if (at === undefined) continue;
      if (Number(at) < now - MAX_AGE_MS) this.remove(name);
      else names.push(name);
    }
    return names;
  }

  /** @returns null when another process has sent it, or it is not a report */
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
