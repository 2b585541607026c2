/** Limits repeated log lines to one per minute, with a count of suppressed ones. */
export interface SuppressedLines {
  left_out?: number;
}

interface LineState {
  toldAt: number;
  leftOut: number;
}

const PERIOD_MS = 60_000;
const MAX_TRACKED_LINES = 100;
const OTHER_LINES_KEY = '\u0000others';

export class RepeatedLineLimiter {
  readonly #kept = new Map<string, LineState>();

  constructor(
    private readonly monotonic: () => number,
    private readonly most = MAX_TRACKED_LINES,
  ) {}

  /** Null suppresses the line. */
  admit(line: string): SuppressedLines | null {
    const now = this.monotonic();
    const key = this.#kept.has(line) || this.#kept.size < this.most ? line : OTHER_LINES_KEY;
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

  reset(): number {
    let leftOut = 0;
    for (const kept of this.#kept.values()) leftOut += kept.leftOut;
    this.#kept.clear();
    return leftOut;
  }
}
