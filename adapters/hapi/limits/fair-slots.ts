/**
 * Slots for expensive work; waiting owners alternate, so that one with hundreds of requests does
 * not delay others.
 */
export class FairSlots {
  readonly #waiting = new Map<string, (() => void)[]>();
  #free: number;

  constructor(
    slots: number,
    private readonly yields = false,
  ) {
    this.#free = slots;
  }

  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#acquire(owner);
    try {
      if (this.yields) await new Promise((resolve) => setImmediate(resolve));
      return await work();
    } finally {
      this.#release();
    }
  }

  #acquire(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(owner);
      if (queue) queue.push(resolve);
      else this.#waiting.set(owner, [resolve]);
    });
  }

  #release(): void {
    for (const [owner, queue] of this.#waiting) {
      const next = queue.shift();
      this.#waiting.delete(owner);
      if (queue.length > 0) this.#waiting.set(owner, queue);
      if (next) return next();
    }
    this.#free++;
  }
}
