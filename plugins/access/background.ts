/**
 * Writes that an answer does not wait for (`last_used_at`, a session's last sign of life). They are counted, so
 * that a stopping process finishes them. Their failure is logged, because no caller sees it.
 */
import { PORT, inject, injectable, type Logger } from '../../kernel/contract.js';

@injectable()
export class Background {
  readonly #running = new Set<Promise<void>>();

  constructor(@inject(PORT.log) private readonly log: Logger) {}

  run(what: string, work: () => Promise<unknown>): void {
    const running = this.#runSafely(what, work).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when everything that was started has ended. */
  async waitUntilIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #runSafely(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.log.warn({ err: error, what }, 'a write in the background failed');
    }
  }
}
