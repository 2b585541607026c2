/**
 * Measures what a load costs a server: rate, latency, processor time, bytes written and resident
 * memory.
 */
import { readFile } from 'node:fs/promises';
import autocannon from 'autocannon';

export interface Workload {
  name: string;
  method: 'GET' | 'POST';
  path: string;
  /** Sent alternately. */
  bodies?: string[];
  /** Builds each body, when every request must differ. */
  createBody?: () => string;
  headers?: Record<string, string>;
  contentType?: string;
  connections?: number;
  /** Stops after that many requests instead of after a time. */
  amount?: number;
  /** Requests per second over all connections. Unlimited when not set. */
  rate?: number;
}

export interface Cost {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** User and system time of all threads, in seconds per 10,000 requests. NaN outside Linux. */
  cpuSeconds: number;
  writtenKb: number;
  residentMb: number;
}

type Counters = Record<'cpuMs' | 'written' | 'residentMb', number>;

export const UNLIMITED = Object.fromEntries(
  ['INTAKE_PER_MINUTE', 'INTAKE_BURST', 'API_PER_MINUTE', 'PUBLIC_PER_MINUTE'].map((key) => [
    `SVC_LIMITS__${key}`,
    '0',
  ]),
);

/** Clock ticks in `/proc` are hundredths of a second on every Linux. */
const TICK_MS = 10;

/** Adds up the counters of processes from `/proc`. All are NaN where it does not exist. */
export async function readCounters(pids: readonly number[]): Promise<Counters> {
  const sum = { cpuMs: 0, written: 0, residentMb: 0 };
  for (const pid of pids) {
    const read = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    const stat = await read('stat');
    // The command's name before the last parenthesis may contain blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    sum.cpuMs += (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    sum.written += Number(/^write_bytes: (\d+)/m.exec(await read('io'))?.[1]);
    sum.residentMb += Number(/VmRSS:\s+(\d+)/.exec(await read('status'))?.[1]) / 1024;
  }
  return sum;
}

/**
 * Sends a workload and returns what it cost the server's processes.
 * @param waitUntilDone resolves when everything that the server accepted is processed
 * @throws Error when a request was rejected or failed
 */
export async function measure(
  url: string,
  pids: () => Promise<readonly number[]>,
  work: Workload,
  seconds: number,
  waitUntilDone: () => Promise<void> = async () => undefined,
): Promise<Cost> {
  const { bodies = [''], createBody, connections = 16 } = work;
  const withBody = createBody !== undefined || bodies[0] !== '';
  const headers = { ...work.headers, ...(withBody && { 'content-type': work.contentType ?? 'application/json' }) };
  const requests = bodies.map((body): autocannon.Request => {
    const request: autocannon.Request = { method: work.method, path: work.path, headers };
    if (body !== '') request.body = body;
    if (createBody !== undefined) request.setupRequest = (next) => ({ ...next, body: createBody() });
    return request;
  });
  const before = await readCounters(await pids());
  const began = performance.now();
  let opened = 0;
  const result = await autocannon({
    url,
    connections,
    ...(work.amount === undefined ? { duration: seconds } : { amount: work.amount }),
    ...(work.rate !== undefined && { overallRate: work.rate }),
    requests,
    // Each connection starts at another body, otherwise all send the same one at the same moment.
    setupClient: (client) => {
      const start = Math.floor((opened++ * requests.length) / connections);
      client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
    },
  });
  await waitUntilDone();
  const elapsedSeconds = (performance.now() - began) / 1000;
  const after = await readCounters(await pids());
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${work.name}: ${result.non2xx} requests were rejected, ${result.errors} failed`);
  }
  const count = result['2xx'];
  return {
    perSecond: count / elapsedSeconds,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    cpuSeconds: ((after.cpuMs - before.cpuMs) / count) * 10,
    writtenKb: (after.written - before.written) / count / 1024,
    residentMb: after.residentMb,
  };
}

export const getMedian = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** Returns the median of each figure. */
export const getMedians = ([first, ...others]: readonly Cost[]): Cost =>
  Object.fromEntries(
    Object.keys(first ?? {}).map((key) => {
      return [key, getMedian([first, ...others].map((cost) => cost?.[key as keyof Cost] ?? NaN))];
    }),
  ) as unknown as Cost;
