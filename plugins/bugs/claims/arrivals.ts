/**
 * Tells waiting agents that there may be work (contract 20, leases: `wait_seconds`). What this process is told of wakes
 * them at once; of what other processes make they learn by looking again every second.
 */
import { injectable } from '../../../kernel/contract.js';

const LOOK_MS = 1_000;

@injectable()
export class Arrivals {
  readonly #waiting = new Set<() => void>();
  #closed = false;

  /** Something may be there now. */
  ring(): void {
    for (const wake of this.#waiting) wake();
  }

  /** The service stops: nobody waits any longer. */
  close(): void {
    this.#closed = true;
    this.ring();
  }

  /**
   * Resolves when it is worth looking again; false: the wait is over, because the caller is gone or the service stops.
   * @param ms the longest wait
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
