/**
 * Points of an update at which a test may stop the process, and figures that it may shorten. A program gets the
 * defaults: no option or variable leads here, so nothing of it is in the product's hands.
 */
export interface Hooks {
  /** Called before and after everything that changes the installation. */
  at(point: string, path: string): void;
  /** Bytes per second that a download has to reach, and how long it is watched (slow retrieval). */
  leastRate: { bytesPerSecond: number; overMs: number };
  /** Before a download goes on after the network broke it. */
  retryMs: readonly number[];
  /** How long an answer of the server may take to begin or to go on. */
  answerMs: number;
  /** How long a run may take to unwind after an uncaught error. */
  unwindMs: number;
}

export const HOOKS: Hooks = {
  at: () => {},
  leastRate: { bytesPerSecond: 1024, overMs: 60_000 },
  retryMs: [500, 1_000, 2_000, 4_000, 8_000],
  answerMs: 30_000,
  unwindMs: 15_000,
};
