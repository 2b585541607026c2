/**
 * Checks work that cannot be counted, such as the steps of a regular expression, by processor time,
 * which the machine's other load does not affect (CONTRIBUTING.md).
 */
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';

const THREAD_STATS_PATH = '/proc/thread-self/schedstat';
/** Linear work on the test inputs takes milliseconds, quadratic work minutes. */
const LINEAR_LIMIT_MS = 10_000;

/**
 * Returns the processor time of this thread in milliseconds, or of all threads if the system does
 * not report it.
 */
export const getCpuTimeMs = existsSync(THREAD_STATS_PATH)
  ? (): number => Number(readFileSync(THREAD_STATS_PATH, 'utf8').split(' ', 1)[0]) / 1e6
  : (): number => process.cpuUsage().user / 1000;

/** Fails if `run` needs more processor time than linear work would. */
export function expectLinear(run: () => void, what = 'milliseconds of this thread', limitMs = LINEAR_LIMIT_MS): void {
  const began = getCpuTimeMs();
  run();
  expect(getCpuTimeMs() - began, what).to.be.below(limitMs);
}

/**
 * Returns a function that returns the elapsed milliseconds. Use it only for limits that are seconds
 * away from either outcome.
 */
export function startStopwatch(): () => number {
  const began = performance.now();
  return () => performance.now() - began;
}
