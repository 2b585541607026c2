/** A clock that tests advance, so that no test sleeps. */
import type { Clock } from '../../ports/clock.js';

export class ManualClock implements Clock {
  private static made = 0;
  /** Each clock has its own epoch, because processes of one machine share theirs. */
  readonly epoch = `manual ${++ManualClock.made}`;
  private elapsed = 0;

  /** @param start milliseconds since 1970, or RFC 3339 */
  constructor(private start: number | string = '2026-11-20T08:15:30.123Z') {}

  now(): number {
    return (typeof this.start === 'number' ? this.start : Date.parse(this.start)) + this.elapsed;
  }

  iso(): string {
    return new Date(this.now()).toISOString();
  }

  monotonic(): number {
    return this.elapsed;
  }

  /** Advances the clock by `ms`. */
  advance(ms: number): void {
    this.elapsed += ms;
  }

  /** Sets the time of day, possibly backwards; `monotonic` never decreases. */
  set(time: number | string): void {
    this.start = (typeof time === 'number' ? time : Date.parse(time)) - this.elapsed;
  }
}
