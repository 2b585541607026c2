/**
 * Starts work a few pieces per turn of the event loop: a hundred lanes that wake together would otherwise sign and connect
 * in one turn, and hold everything else up (architecture: the event loop is never blocked over 20 ms).
 */
const PER_TURN = 16;

export class Pacer {
  readonly #waiting: (() => void)[] = [];
  #scheduled = false;

  /** Resolves as `work` does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
    return work();
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      for (const start of this.#waiting.splice(0, PER_TURN)) start();
      this.#schedule();
    });
  }
}
