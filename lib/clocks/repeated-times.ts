/**
 * Times that a clock showed twice because it was put back (contract 95, a bad day). What changed the second time has
 * stamps that marks of delta queries have passed already (contract 00, lists). Whoever asks with a mark from between is
 * told everything since the clock was put back, again if need be, until it is there once more.
 *
 * Known to the process alone: a clock that is put back while no process runs is not seen.
 */
import { ClockSteps } from '../clock-steps.js';
import { DAY_MS, isoOf } from '../time.js';

/** Between these two times, in milliseconds since 1970, the clock was twice. */
interface Twice {
  from: number;
  to: number;
  /** When that was seen, by the monotonic clock. */
  seen: number;
}

/** Steps back that are remembered, and for how long: nobody is expected to ask more seldom. */
const MOST_STEPS = 10;
const REMEMBERED_MS = DAY_MS;

export class RepeatedTimes {
  readonly #steps: ClockSteps;
  /** At the last look, by the monotonic clock. */
  #looked: number;
  /** The latest last. */
  #twice: Twice[] = [];

  /** @param marginMs a write may become visible this long after its stamp */
  constructor(
    private readonly clock: { now(): number; monotonic(): number },
    private readonly marginMs: number,
  ) {
    this.#steps = new ClockSteps(clock);
    this.#looked = clock.monotonic();
  }

  /** The clock may have been put back at any time since the last look. */
  look(): void {
    const step = this.#steps.look();
    const seen = this.clock.monotonic();
    const now = this.clock.now();
    if (step < 0) {
      this.#twice.push({ from: now - (seen - this.#looked), to: now - step, seen });
      if (this.#twice.length > MOST_STEPS) this.#twice.shift();
    }
    this.#looked = seen;
  }

  /**
   * Where a question with this mark begins: at the mark, or where the clock was put back to since.
   * @param mark RFC 3339, as the answer
   */
  since(mark: string): string {
    this.look();
    this.#twice = this.#twice.filter(({ seen }) => this.clock.monotonic() - seen < REMEMBERED_MS);
    const asked = Date.parse(mark);
    let begin = asked;
    for (const { from, to } of this.#twice) if (begin > from && begin <= to) begin = from - this.marginMs;
    return begin === asked ? mark : isoOf(begin);
  }
}
