/**
 * When a job is due, on a machine whose clock is put forward and back (contract 95, a bad day).
 *
 * A due time is stored as a time of day, since processes share no other clock; beside it stands how far ahead it lay
 * when it was written (`ahead_ms`). After a clock was put back, due times lie further ahead than that, and are anchored
 * anew (anchoring.ts): those of this process where they would have been, others as if they had just been written.
 * After it was put ahead, locks would end early: until the longest of them is truly over, one counts as over when it
 * would be by the clock before.
 */
import { ClockSteps } from '../../lib/clock-steps.js';
import { OwnDueTimes } from '../../lib/clocks/own-due-times.js';
import { isoOf } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';

/** What is stored of a due time. A type and no interface, since it becomes part of an update. */
export type Due = { due_at: string; ahead_ms: number };

export class DueTimes {
  readonly #steps: ClockSteps;
  readonly #own: OwnDueTimes;
  #forward = { by: 0, until: 0 };
  #back = false;

  /** @param longestLockMs how long a lock of this service may last */
  constructor(
    private readonly clock: Clock,
    private readonly longestLockMs: () => number,
  ) {
    this.#steps = new ClockSteps(clock);
    this.#own = new OwnDueTimes(clock);
  }

  now(): string {
    return isoOf(this.clock.now());
  }

  in(ms: number): Due {
    return this.at(this.clock.now() + ms);
  }

  /** @param time milliseconds since 1970; one that is past is due at once */
  at(time: number): Due {
    return { due_at: this.#own.remember(isoOf(time)), ahead_ms: Math.max(0, Math.round(time - this.clock.now())) };
  }

  /** When a stored time is due by the clock of now; Infinity: another process wrote it. */
  timeOf(due: string): number {
    return this.#own.timeOf(due);
  }

  /** Locks up to this time are over. */
  lockEnd(): string {
    this.#look();
    const { by, until } = this.#forward;
    return isoOf(this.clock.now() - (this.clock.monotonic() < until ? by : 0));
  }

  /** Whether the clock was put back since this was asked last. */
  wentBack(): boolean {
    this.#look();
    const back = this.#back;
    this.#back = false;
    return back;
  }

  #look(): void {
    const step = this.#steps.look();
    if (step < 0) this.#back = true;
    if (step <= 0) return;
    const monotonic = this.clock.monotonic();
    const by = monotonic < this.#forward.until ? this.#forward.by + step : step;
    this.#forward = { by, until: monotonic + this.longestLockMs() };
  }
}
