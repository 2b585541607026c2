/**
 * How a test judges work without a watch that the machine's other work would move (CONTRIBUTING.md). What can be counted is
 * counted; this is for what cannot, as the steps of a regular expression.
 */
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';

const OWN = '/proc/thread-self/schedstat';
/** Far from both: linear work on what the tests give takes some milliseconds, work that grows with the square takes minutes. */
const FAR_MS = 10_000;

/** Processor time of this thread so far, in milliseconds; where the system does not tell, of all its threads. */
export const usedMs = existsSync(OWN)
  ? (): number => Number(readFileSync(OWN, 'utf8').split(' ', 1)[0]) / 1e6
  : (): number => process.cpuUsage().user / 1000;

/** `run` takes an amount of processor time that only work in proportion to its input takes. */
export function staysLinear(run: () => void, what = 'milliseconds of this thread', limitMs = FAR_MS): void {
  const began = usedMs();
  run();
  expect(usedMs() - began, what).to.be.below(limitMs);
}

/** Milliseconds that have passed. Only for limits that are seconds away from either outcome. */
export function watch(): () => number {
  const began = performance.now();
  return () => performance.now() - began;
}
