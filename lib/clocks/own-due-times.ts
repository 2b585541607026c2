/**
 * Due times that this process wrote, by its monotonic clock. A due time is stored as a time of day; once the machine's
 * clock was put back it lies too far ahead, and here is how long it really has to wait. Of times that other processes
 * wrote only bounds are known (docs/operations.md, when a clock is put ahead or back).
 */
interface Clock {
  now(): number;
  monotonic(): number;
}

const MAX_TIMES = 20_000;

export class OwnDueTimes {
  /** Stored text → when it is due, by the monotonic clock. */
  readonly #dueAt = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** @param due RFC 3339, by the clock of now; null: not due at any time. @returns the same */
  remember<T extends string | null>(due: T): T {
    if (due !== null) {
      if (this.#dueAt.size >= MAX_TIMES) this.#forget();
      this.#dueAt.set(due, this.clock.monotonic() + Date.parse(due) - this.clock.now());
    }
    return due;
  }

  /** When a stored time is due, in milliseconds since 1970 by the clock of now; Infinity: another process wrote it. */
  timeOf(due: string): number {
    const at = this.#dueAt.get(due);
    return at === undefined ? Infinity : this.clock.now() + Math.max(0, at - this.clock.monotonic());
  }

  /** What is past, and else the oldest. */
  #forget(): void {
    const now = this.clock.monotonic();
    for (const [due, at] of this.#dueAt) if (at < now) this.#dueAt.delete(due);
    for (const due of this.#dueAt.keys()) {
      if (this.#dueAt.size < MAX_TIMES) return;
      this.#dueAt.delete(due);
    }
  }
}
