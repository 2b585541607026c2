/** Measures the resident memory of the service: idle, and under a mixed load. */
import { setTimeout as pause } from 'node:timers/promises';
import { getMedian, measure, readCounters, UNLIMITED } from './measure.js';
import { startService } from './servers.js';
import { connect, formatCost, type BenchOptions } from './throughput.js';
import { CALLS } from './workloads.js';

const IDLE_MS = 60_000;
/** Requests per second of each call. */
const RATE = 300;
const CONNECTIONS = 4;

/** @param minutes of mixed load */
export async function measureMemory({ print }: BenchOptions, minutes: number): Promise<void> {
  const server = await startService(UNLIMITED);
  try {
    const readMb = async (): Promise<number> => (await readCounters(await server.pids())).residentMb;
    await pause(IDLE_MS);
    print(`\nMemory, idle for a minute after the start: ${(await readMb()).toFixed(0)} MB`);
    const prepare = await connect(server);
    const works = [];
    for (const call of CALLS) works.push({ ...(await prepare(call, 0)), rate: RATE, connections: CONNECTIONS });
    const readings: number[] = [];
    const timer = setInterval(() => void readMb().then((mb) => readings.push(mb)), 1000);
    const costs = await Promise.all(
      works
        .filter(({ amount }) => amount === undefined)
        .map((work) => measure(server.url, server.pids, work, minutes * 60)),
    );
    clearInterval(timer);
    for (const [i, cost] of costs.entries()) print(formatCost(works[i]?.name ?? '', cost));
    print(`  median ${getMedian(readings).toFixed(0)} MB, most ${Math.max(...readings).toFixed(0)} MB`);
    await pause(IDLE_MS);
    print(`  idle for a minute afterwards: ${(await readMb()).toFixed(0)} MB`);
  } finally {
    await server.stop();
  }
}
