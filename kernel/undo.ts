import type { Logger } from '../ports/logger.js';
import { within } from './timeout.js';

const GIVE_UP_MS = 3_000;

export class UndoStack {
  readonly #parts: { name: string; run: () => Promise<void> }[] = [];

  constructor(private readonly log: Logger) {}

  push(name: string, run: () => Promise<void>): void {
    this.#parts.push({ name, run });
  }

  async all(): Promise<void> {
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      try {
        await part.run();
      } catch (err) {
        this.log.error({ err, part: part.name }, 'a part did not stop cleanly');
      }
    }
  }

  /** After a failed start, a hanging cleanup must not hide the reason. */
  async giveUp(): Promise<void> {
    try {
      await within(GIVE_UP_MS, 'closing after a failed start', () => this.all());
    } catch (err) {
      this.log.error({ err }, 'what the failed start had opened did not close');
    }
  }
}
