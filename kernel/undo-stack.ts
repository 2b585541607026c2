import type { Logger } from '../ports/logger.js';
import { runWithTimeout } from './timeout.js';

const CLEANUP_TIMEOUT_MS = 3_000;

export class UndoStack {
  readonly #parts: { name: string; run: () => Promise<void> }[] = [];

  constructor(private readonly log: Logger) {}

  push(name: string, run: () => Promise<void>): void {
    this.#parts.push({ name, run });
  }

  async undoAll(): Promise<void> {
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      try {
        await part.run();
      } catch (err) {
        this.log.error({ err, part: part.name }, 'a part did not stop cleanly');
      }
    }
  }

  /** A hanging cleanup must not hide the reason. */
  async undoAfterFailure(): Promise<void> {
    try {
      await runWithTimeout(CLEANUP_TIMEOUT_MS, 'closing after a failed start', () => this.undoAll());
    } catch (err) {
      this.log.error({ err }, 'what the failed start had opened did not close');
    }
  }
}
