/**
 * Measures how long other processes' marks in the store have been unchanged, by the local monotonic
 * clock, because clocks of machines differ.
 */
export class StalenessTracker {
  /** Mark → first seen, as of the last complete round. */
  #seen = new Map<string, number>();

  constructor(private readonly now: () => number) {}

  /**
   * Starts a check of all marks. Its end forgets marks that were not seen; an aborted round forgets
   * none.
   */
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
  /**
   * Returns milliseconds since the mark was first seen; 0: new.
   * @param mark text that changes with each update
   */
  getAgeMs(mark: string): number;
  end(): void;
}
