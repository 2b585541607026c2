/**
 * Writes that responses do not wait for (`last_used_at`, `last_seen_at`), but a stopping process
 * does.
 */
import { PORT, inject, injectable, type Logger } from '../../kernel/contract/index.js';

@injectable()
export class BackgroundTasks {
  readonly #running = new Set<Promise<void>>();

  constructor(@inject(PORT.log) private readonly log: Logger) {}

  run(what: string, work: () => Promise<unknown>): void {
    const running = this.#runSafely(what, work).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async waitUntilIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #runSafely(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.log.warn({ err: error, what }, 'a background write failed');
    }
  }
}
