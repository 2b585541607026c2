/**
 * CPU time budget of a job, measured by its own process, so that a busy machine does not make jobs
 * more expensive.
 */
import { MapRefused } from '../../ports/source-maps/reader.js';

/**
 * Called every few thousand steps.
 * @throws MapRefused, not lasting, because machines differ in speed
 */
export type Spend = () => void;

export function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** @param mostMs milliseconds of CPU time from now on */
export function spendUpTo(mostMs: number): Spend {
  const end = usedMs() + mostMs;
  return () => {
    if (usedMs() > end) throw new MapRefused('takes more processor time than a map may', false);
  };
}
