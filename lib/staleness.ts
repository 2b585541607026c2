/** Measures by the local monotonic clock how long other processes' marks have been unchanged. */
export class StalenessTracker {
  /** Mark → first seen, as of the last complete round. */
  #seen = new Map<string, number>();

  constructor(private readonly now: () => number) {}

  /** Its end forgets unseen marks; an aborted round forgets none. */
  startRound(): StalenessRound {
    const seen = new Map<string, number>();
    return {
      getAgeMs: (mark) => {
        const now = this.now();
        const first = this.#seen.get(mark) ?? now;
        seen.set(mark, first);
        return now - first;
      },
      end: () => void (this.#seen = seen),
    };
  }
}

export interface StalenessRound {
  /** @param mark text that changes with each update */
  getAgeMs(mark: string): number;
  end(): void;
}
