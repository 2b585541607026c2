/**
 * Wakes waiting agents (contract 20, leases: `wait_seconds`): immediately for changes by this
 * process, by polling for those of others.
 */
import { injectable } from '../../../kernel/contract/index.js';

const POLL_INTERVAL_MS = 1_000;

@injectable()
export class ClaimableItemNotifier {
  readonly #waiting = new Set<() => void>();
  #closed = false;

  notifyAll(): void {
    for (const wake of this.#waiting) wake();
  }

  close(): void {
    this.#closed = true;
    this.notifyAll();
  }

  /**
   * Resolves with false when the client disconnected or the service stops.
   * @param ms maximum wait in milliseconds
   */
  async waitForNext(ms: number, signal?: AbortSignal): Promise<boolean> {
    const isOver = (): boolean => this.#closed || signal?.aborted === true;
    if (isOver()) return false;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(ms, POLL_INTERVAL_MS));
      signal?.addEventListener('abort', wake);
      this.#waiting.add(wake);
    });
    return !isOver();
  }
}
