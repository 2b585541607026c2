/**
 * Wakes waiting agents when there may be work for them (contract 20, leases: `wait_seconds`). Changes made by this
 * process wake them at once. Other processes tell nobody here, so a waiting agent also looks at the store every second.
 */
import { injectable } from '../../../kernel/contract.js';

const LOOK_MS = 1_000;

@injectable()
export class Arrivals {
  readonly #waiting = new Set<() => void>();
  #closed = false;

  /** An item may have become free: everybody who waits looks again. */
  ring(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Ends every wait, because the service stops. */
  close(): void {
    this.#closed = true;
    this.ring();
  }

  /**
   * Resolves with true when the caller should look again, with false when the wait is over: the caller is gone, or the
   * service stops.
   * @param ms the longest wait in milliseconds
   */
  async next(ms: number, signal?: AbortSignal): Promise<boolean> {
    const isOver = (): boolean => this.#closed || signal?.aborted === true;
    if (isOver()) return false;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(ms, LOOK_MS));
      signal?.addEventListener('abort', wake);
      this.#waiting.add(wake);
    });
    return !isOver();
  }
}
