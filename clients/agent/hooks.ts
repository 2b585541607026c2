/** Interruption points and limits that tests may override. */
export interface Hooks {
  at(point: string, path: string): void;
  leastRate: { bytesPerSecond: number; overMs: number };
  retryMs: readonly number[];
  answerMs: number;
  unwindMs: number;
}

export const DEFAULT_HOOKS: Hooks = {
  at: () => {},
  leastRate: { bytesPerSecond: 1024, overMs: 60_000 },
  retryMs: [500, 1_000, 2_000, 4_000, 8_000],
  answerMs: 30_000,
  unwindMs: 15_000,
};
