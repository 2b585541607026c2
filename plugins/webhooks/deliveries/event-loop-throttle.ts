/**
 * Starts a few pieces of work per turn of the event loop: a hundred workers that wake together would otherwise sign and
 * connect in one turn and block it (architecture: the event loop is never blocked over 20 ms). A long turn means that
 * other work is running: then fewer pieces start.
 */
const PER_TURN = 16;
const PER_BUSY_TURN = 6;
/** In milliseconds. Deliveries alone make turns of 3 to 8: a lower bound made them slow each other down. */
const BUSY_MS = 10;

export class EventLoopThrottle {
  readonly #waiting: (() => void)[] = [];
  #scheduled = false;

  /** Resolves when it is the caller's turn. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    const asked = performance.now();
    setImmediate(() => {
      this.#scheduled = false;
      const busy = performance.now() - asked > BUSY_MS;
      for (const start of this.#waiting.splice(0, busy ? PER_BUSY_TURN : PER_TURN)) start();
      this.#schedule();
    });
  }
}
