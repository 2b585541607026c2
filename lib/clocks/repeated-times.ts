/**
 * Times that a clock showed twice because it was put back (contract 95, a bad day). What changed the second time has
 * stamps that marks of delta queries have passed already (contract 00, lists). Whoever asks with a mark from between is
 * told everything since the clock was put back, again if need be, until it is there once more.
 *
 * Steps are known to the process alone. A clock that was put back while none ran shows when one starts, by stamps that
 * lie ahead; when it was put back nobody knows, so whoever then asks with a mark that lies ahead is told everything.
 */
import { CLOCK_SLACK_MS, ClockSteps } from '../clock-steps.js';
import { DAY_MS, isoOf } from '../time.js';

/** Between these two times, in milliseconds since 1970, the clock was twice. */
interface Twice {
  from: number;
  to: number;
  /** When that was seen, by the monotonic clock. */
  seen: number;
  /** The clock was put back before this process began. */
  before?: true;
}

/**
 * Steps back that are remembered, and for how long: nobody is expected to ask more seldom. With a mark that lies ahead
 * somebody may ask for as long as it does.
 */
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

  /** At the start. @param newest stamp that is stored, RFC 3339; undefined: none */
  begin(newest: string | undefined): void {
    const now = this.clock.now();
    const latest = newest === undefined ? 0 : Date.parse(newest);
    if (latest <= now + CLOCK_SLACK_MS) return;
    // A mark is later than the newest stamp where nothing was written before it was given.
    this.#remember({ from: now, to: latest + REMEMBERED_MS, seen: this.clock.monotonic(), before: true });
  }

  /** The clock may have been put back at any time since the last look. */
  look(): void {
    const step = this.#steps.look();
    const seen = this.clock.monotonic();
    const now = this.clock.now();
    if (step < 0) this.#remember({ from: now - (seen - this.#looked), to: now - step, seen });
    this.#looked = seen;
  }

  /**
   * Where a question with this mark begins: at the mark, or where the clock was put back to since.
   * @param mark RFC 3339, as the answer
   */
  since(mark: string): string {
    this.look();
    const now = this.clock.now();
    const isFresh = ({ seen }: Twice): boolean => this.clock.monotonic() - seen < REMEMBERED_MS;
    this.#twice = this.#twice.filter((twice) => isFresh(twice) || twice.to > now);
    const asked = Date.parse(mark);
    const ahead = asked > now + CLOCK_SLACK_MS;
    let begin = asked;
    for (const twice of this.#twice) {
      if (begin <= twice.from || begin > twice.to || !(ahead || isFresh(twice))) continue;
      begin = ahead && twice.before === true ? 0 : twice.from - this.marginMs;
    }
    return begin === asked ? mark : isoOf(begin);
  }

  #remember(twice: Twice): void {
    this.#twice.push(twice);
    if (this.#twice.length > MOST_STEPS) this.#twice.shift();
  }
}
