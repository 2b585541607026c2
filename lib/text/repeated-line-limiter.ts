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
  readonly #lineStates = new Map<string, LineState>();

  constructor(
    private readonly monotonic: () => number,
    private readonly most = MAX_TRACKED_LINES,
  ) {}

  /** Null suppresses the line. */
  admit(line: string): SuppressedLines | null {
    const now = this.monotonic();
    const key = this.#lineStates.has(line) || this.#lineStates.size < this.most ? line : OTHER_LINES_KEY;
    const state = this.#lineStates.get(key);
    if (state === undefined) {
      this.#lineStates.set(key, { toldAt: now, leftOut: 0 });
      return {};
    }
    if (now - state.toldAt < PERIOD_MS) {
      state.leftOut++;
      return null;
    }
    const { leftOut } = state;
    this.#lineStates.set(key, { toldAt: now, leftOut: 0 });
    return leftOut === 0 ? {} : { left_out: leftOut };
  }

  reset(): number {
    let leftOut = 0;
    for (const state of this.#lineStates.values()) leftOut += state.leftOut;
    this.#lineStates.clear();
    return leftOut;
  }
}
