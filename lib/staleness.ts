/**
 * For how long others' marks in the store have stayed the same, by the monotonic clock of the process that looks: the
 * clocks of two machines differ, so a time written into a mark says nothing about its age.
 */
export class StalenessTracker {
  /** Mark → when it was seen first, as of the last complete round. */
  #seen = new Map<string, number>();

  /** @param now monotonic milliseconds */
  constructor(private readonly now: () => number) {}

  /**
   * A look at every mark. Those that it does not meet are forgotten when it ends; one that breaks off forgets nothing.
   */
  round(): StalenessRound {
    const seen = new Map<string, number>();
    return {
      ageMs: (mark) => {
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
   * Milliseconds since the mark was seen first; 0 for a new one.
   * @param mark its text, another one after each change
   */
  ageMs(mark: string): number;
  end(): void;
}
