/**
 * CPU time budget of a job, measured by its own process, so that a busy machine does not make jobs
 * more expensive.
 */
import { SourceMapRejected } from '../../ports/source-map-reader.js';

/**
 * Called every few thousand steps.
 * @throws MapRefused, not lasting, because machines differ in speed
 */
export type BudgetCheck = () => void;

export function getUsedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** @param mostMs milliseconds of CPU time from now on */
export function createCpuBudget(mostMs: number): BudgetCheck {
  const end = getUsedCpuMs() + mostMs;
  return () => {
    if (getUsedCpuMs() > end) throw new SourceMapRejected('takes too much CPU time', false);
  };
}
