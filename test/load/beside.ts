/**
 * One figure of the report: our route beside a bare one, in turn in one run. Besides rate and latency it holds what noise of
 * the machine distorts least: processor time and bytes written, from `/proc` (Linux; else NaN).
 */
import { readFile } from 'node:fs/promises';
import type { TestService } from '../support/service.js';
import { load, median, type Load } from './generator.js';

type Target = Omit<Parameters<typeof load>[0], 'seconds'>;

/** Makes one figure of the report: a route of the service, and the bare one that stands beside it. */
export type Compared = (
  name: string,
  service: TestService,
  bare: { url: string; pid: number },
  theirs: Omit<Target, 'url'>,
  ours: Omit<Target, 'url'>,
) => Promise<void>;

/** Of one server under one load, all its processes together. */
export interface Cost {
  per_second: number;
  p50_ms: number;
  p99_ms: number;
  /** User and system, all threads. */
  cpu_s_per_10000: number;
  /** Handed to the disk. */
  written_kb_per_request: number;
  resident_mb: number;
}

export interface Figure {
  name: string;
  /** Median of the rounds. */
  ratio: number;
  ratios: number[];
  /** Processor time of ours over that of the bare route. */
  cpu_ratio: number;
  ours: Cost;
  bare: Cost;
  rounds: number;
  seconds: number;
}

export interface Pair {
  name: string;
  ours: Target;
  bare: Target;
  pids: { ours: number; bare: number };
  rounds: number;
  seconds: number;
  warmUp: number;
}

interface Counters {
  cpuMs: number;
  written: number;
  residentMb: number;
}

/** Clock ticks of `/proc` are hundredths of a second on every Linux. */
const TICK_MS = 10;

export async function counters(pid: number): Promise<Counters> {
  try {
    const [stat, io, status] = await Promise.all(
      ['stat', 'io', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
    );
    // Behind the command's name, which may hold blanks: the 14th and 15th of all fields.
    const fields = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ');
    return {
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      written: Number(/^write_bytes: (\d+)/m.exec(io ?? '')?.[1]),
      residentMb: Number(/VmRSS:\s+(\d+)/.exec(status ?? '')?.[1]) / 1024,
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { cpuMs: NaN, written: NaN, residentMb: NaN };
  }
}

/** Of several processes together. */
async function countersOf(pids: readonly number[]): Promise<Counters> {
  const all = await Promise.all(pids.map(counters));
  const sum = (key: keyof Counters): number => all.reduce((total, one) => total + one[key], 0);
  return { cpuMs: sum('cpuMs'), written: sum('written'), residentMb: sum('residentMb') };
}

/**
 * What a load costs a server.
 * @param pids its processes @param run the load, which takes so many `seconds`
 * @throws Error when a request was refused
 */
export async function costOf(
  { name, pids, seconds }: { name: string; pids: readonly number[]; seconds: number },
  run: () => Promise<Load>,
): Promise<Cost> {
  const before = await countersOf(pids);
  const result = await run();
  const after = await countersOf(pids);
  if (result.non2xx + result.errors > 0) throw new Error(`${name}: ${result.non2xx + result.errors} were refused`);
  const requests = result.perSecond * (result.seconds ?? seconds);
  return {
    per_second: result.perSecond,
    p50_ms: result.p50,
    p99_ms: result.p99,
    cpu_s_per_10000: ((after.cpuMs - before.cpuMs) / requests) * 10,
    written_kb_per_request: (after.written - before.written) / requests / 1024,
    resident_mb: after.residentMb,
  };
}

const measured = (target: Target, pid: number, seconds: number): Promise<Cost> =>
  costOf({ name: target.url, pids: [pid], seconds }, () => load({ ...target, seconds }));

export const medians = (costs: readonly Cost[]): Cost => {
  const of = (key: keyof Cost): number => Number(median(costs.map((cost) => cost[key])).toFixed(3));
  return {
    per_second: of('per_second'),
    p50_ms: of('p50_ms'),
    p99_ms: of('p99_ms'),
    cpu_s_per_10000: of('cpu_s_per_10000'),
    written_kb_per_request: of('written_kb_per_request'),
    resident_mb: of('resident_mb'),
  };
};

/** @throws Error when a request was refused */
export async function beside({ name, ours, bare, pids, rounds, seconds, warmUp }: Pair): Promise<Figure> {
  // Both warm: the figures are those of a server that has been running, not of its compiler.
  await load({ ...bare, seconds: warmUp });
  await load({ ...ours, seconds: warmUp });
  const costs: { ours: Cost; bare: Cost }[] = [];
  for (let round = 0; round < rounds; round++) {
    const yardstick = await measured(bare, pids.bare, seconds);
    costs.push({ bare: yardstick, ours: await measured(ours, pids.ours, seconds) });
  }
  const ratios = costs.map((cost) => Number((cost.ours.per_second / cost.bare.per_second).toFixed(3)));
  const [own, other] = [medians(costs.map((cost) => cost.ours)), medians(costs.map((cost) => cost.bare))];
  return {
    name,
    ratio: median(ratios),
    ratios,
    cpu_ratio: Number((own.cpu_s_per_10000 / other.cpu_s_per_10000).toFixed(2)),
    ours: own,
    bare: other,
    rounds,
    seconds,
  };
}

/** A line about a server that stands beside no other. */
export const costLine = (name: string, cost: Cost): string =>
  `  ${name.padEnd(44)} ${cost.per_second.toFixed(1).padStart(8)} /s  p50 ${cost.p50_ms}  p99 ${cost.p99_ms} ms  ` +
  `CPU ${cost.cpu_s_per_10000.toFixed(1)} s per 10,000  ` +
  `${cost.written_kb_per_request.toFixed(1)} KB written  ${cost.resident_mb.toFixed(0)} MB`;

export const line = ({ name, ratio, ratios, ours, cpu_ratio }: Figure): string =>
  `  ${name.padEnd(28)} ratio ${ratio.toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(' ')})  ` +
  `${ours.per_second.toFixed(0)} /s  p50 ${ours.p50_ms}  p99 ${ours.p99_ms} ms  ` +
  `CPU ${ours.cpu_s_per_10000.toFixed(1)} s per 10,000 (${cpu_ratio.toFixed(1)} of bare)  ` +
  `${ours.written_kb_per_request.toFixed(1)} KB written  ${ours.resident_mb.toFixed(0)} MB`;
