/** Processor time that a job may take, as its own process counts it: a busy machine makes no job more expensive. */
import { MapRefused } from '../../ports/source-maps/reader.js';

/** Called every few thousand steps. @throws MapRefused, which does not last: machines differ in speed */
export type Spend = () => void;

export function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** @param mostMs milliseconds of processor time from now on */
export function spendUpTo(mostMs: number): Spend {
  const end = usedMs() + mostMs;
  return () => {
    if (usedMs() > end) throw new MapRefused('takes more processor time than a map may', false);
  };
}
