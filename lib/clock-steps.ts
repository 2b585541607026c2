/**
 * Steps of a machine's time of day, seen against its monotonic clock (contract 95, a bad day). A machine that slept has
 * stepped ahead: its monotonic clock stood still.
 */
import { SECOND_MS } from './time.js';

/** What two looks, or the clocks of two machines, may differ by without anybody having put a clock anywhere. */
export const CLOCK_SLACK_MS = 2 * SECOND_MS;

export class ClockSteps {
  #offset: number;

  constructor(private readonly clock: { now(): number; monotonic(): number }) {
    this.#offset = clock.now() - clock.monotonic();
  }

  /**
   * How far the clock was put ahead since the last look, in milliseconds; negative: back; 0: nobody put it anywhere.
   */
  look(): number {
    const offset = this.clock.now() - this.clock.monotonic();
    const step = offset - this.#offset;
    this.#offset = offset;
    return Math.abs(step) > CLOCK_SLACK_MS ? step : 0;
  }
}
