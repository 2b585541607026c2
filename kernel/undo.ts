/** What a start has opened, taken back in reverse. */
import type { Logger } from '../ports/logger.js';
import { within } from './timeout.js';

/** For everything that a failed start has opened. */
const GIVE_UP_MS = 3_000;

export class UndoStack {
  readonly #parts: { name: string; run: () => Promise<void> }[] = [];

  constructor(private readonly log: Logger) {}

  push(name: string, run: () => Promise<void>): void {
    this.#parts.push({ name, run });
  }

  /** Takes back what was done, last first. A part that cannot stop is logged and does not keep the others running. */
  async all(): Promise<void> {
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      try {
        await part.run();
      } catch (err) {
        this.log.error({ err, part: part.name }, 'a part did not stop cleanly');
      }
    }
  }

  /** After a failed start: what does not close in time must not hide the reason. */
  async giveUp(): Promise<void> {
    try {
      await within(GIVE_UP_MS, 'closing after a failed start', () => this.all());
    } catch (err) {
      this.log.error({ err }, 'what the failed start had opened did not close');
    }
  }
}
