/**
 * A few slots for costly work. Waiting owners take turns, so an owner that asks for hundreds does not delay the others.
 * Rejected: p-limit and p-queue, which serve in the order of asking.
 */
export class FairSlots {
  /** Owners that wait, the next one first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #free: number;

  /** @param yields lets the event loop run before each work: what comes meanwhile gets its turn before what waits */
  constructor(
    slots: number,
    private readonly yields = false,
  ) {
    this.#free = slots;
  }

  /** Runs `work` when a slot is free. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(owner);
    try {
      if (this.yields) await new Promise((resolve) => setImmediate(resolve));
      return await work();
    } finally {
      this.#release();
    }
  }

  #turn(owner: string): Promise<void> {
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
      // The slot passes straight to the next waiter.
      if (next) return next();
    }
    this.#free++;
  }
}
