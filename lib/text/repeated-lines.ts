/**
 * The same line once a minute: what fails at every poll is told when it begins, then once a minute with a count of how
 * often it was left out. What is remembered is bounded: lines beyond the most share one place, so that a thousand
 * different ones are not a thousand either.
 */
export interface LeftOut {
  /** How many of this line were not told since the last that was; absent: none. */
  left_out?: number;
}

interface Kept {
  toldAt: number;
  leftOut: number;
}

const PERIOD_MS = 60_000;
const MAX_TRACKED_LINES = 100;
const OTHERS = '\u0000others';

export class RepeatedLines {
  readonly #kept = new Map<string, Kept>();

  /** @param monotonic milliseconds that never go backwards */
  constructor(
    private readonly monotonic: () => number,
    private readonly most = MAX_TRACKED_LINES,
  ) {}

  /** What belongs to the line besides its own; null: the line is left out. */
  next(line: string): LeftOut | null {
    const now = this.monotonic();
    const key = this.#kept.has(line) || this.#kept.size < this.most ? line : OTHERS;
    const kept = this.#kept.get(key);
    if (kept === undefined) {
      this.#kept.set(key, { toldAt: now, leftOut: 0 });
      return {};
    }
    if (now - kept.toldAt < PERIOD_MS) {
      kept.leftOut++;
      return null;
    }
    const { leftOut } = kept;
    this.#kept.set(key, { toldAt: now, leftOut: 0 });
    return leftOut === 0 ? {} : { left_out: leftOut };
  }

  /** It works again: everything is forgotten. @returns how many lines nobody has read */
  over(): number {
    let leftOut = 0;
    for (const kept of this.#kept.values()) leftOut += kept.leftOut;
    this.#kept.clear();
    return leftOut;
  }
}
