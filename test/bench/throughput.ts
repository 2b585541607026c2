/**
 * Compares the rate and cost of each call with a bare hapi route, and with another build,
 * alternately in one run.
 */
import { getMedian, getMedians, measure, UNLIMITED, type Cost, type Workload } from './measure.js';
import { startBare, startService, type Server } from './servers.js';
import { CALLS, type Call, type MeasuredCall } from './workloads.js';

const SCOPES =
  'bugtracker:report,bugtracker:read,bugtracker:manage,watchdog:ping,license:manage,updateservice:publish,projects:manage';

export interface BenchOptions {
  print: (line: string) => void;
  rounds: number;
  seconds: number;
  /** Folder of another checkout that is built, to compare with. */
  against?: string;
}

/** Prints one line of costs. */
export const formatCost = (name: string, cost: Cost, ratio?: number): string =>
  [
    `  ${name.padEnd(24)} ${cost.perSecond.toFixed(0).padStart(7)} /s`,
    `p50 ${cost.p50Ms.toFixed(0)} ms`,
    `p99 ${cost.p99Ms.toFixed(0)} ms`,
    `CPU ${cost.cpuSeconds.toFixed(2)} s per 10,000`,
    `${cost.writtenKb.toFixed(1)} KB written`,
    `${cost.residentMb.toFixed(0)} MB`,
    ...(ratio === undefined ? [] : [`AOS at ${ratio.toFixed(2)} of its rate`]),
  ].join('  ');

/**
 * Measures several servers under the same load, alternately. The first one is compared with each
 * other one by the median of the ratios of the rounds.
 */
export async function compare(
  { print, rounds, seconds }: BenchOptions,
  sides: readonly { server: Server; work: Workload }[],
): Promise<void> {
  const costs = sides.map((): Cost[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [i, { server, work }] of sides.entries()) {
      const cost = await measure(server.url, server.pids, work, seconds, server.waitUntilDone);
      // The first round warms up.
      if (round >= 0) costs[i]?.push(cost);
    }
  }
  const [own = []] = costs;
  for (const [i, { server }] of sides.entries()) {
    const ratios = own.map((cost, round) => cost.perSecond / (costs[i]?.[round]?.perSecond ?? NaN));
    print(formatCost(server.name, getMedians(costs[i] ?? []), i === 0 ? undefined : getMedian(ratios)));
  }
}

/** Creates a project and a token on a build of the service and returns how to prepare its calls. */
export async function connect({
  run,
  url,
}: Server): Promise<(call: MeasuredCall, rounds: number) => Promise<Workload>> {
  if (run === undefined) return async ({ name, bare }) => ({ name, method: 'POST', ...bare });
  await run(['project', 'create', 'bench']);
  const token = String((await run(['token', 'create', '--name', 'bench', '--scopes', SCOPES]))['token']);
  const send: Call = async (path, body = {}) => {
    const isFile = Buffer.isBuffer(body);
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': isFile ? 'application/gzip' : 'application/json',
    };
    const response = await fetch(url + path, {
      method: 'POST',
      headers,
      body: isFile ? new Uint8Array(body) : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} → ${response.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  return async (call, rounds) => ({ name: call.name, ...(await call.prepare(send, token, rounds)) });
}

/** @param words parts of names of calls, all when empty */
export async function measureThroughput(options: BenchOptions, words: readonly string[] = []): Promise<void> {
  const { print, rounds, seconds, against } = options;
  for (const call of CALLS) {
    if (words.length > 0 && !words.some((word) => call.name.includes(word))) continue;
    print(`\n${call.name}: ${rounds} rounds of ${seconds} s, 16 connections`);
    const servers: Server[] = [];
    try {
      servers.push(await startService(UNLIMITED));
      if (against !== undefined) servers.push(await startService(UNLIMITED, against));
      servers.push(await startBare());
      const sides: { server: Server; work: Workload }[] = [];
      for (const server of servers) {
        const work = await (await connect(server))(call, rounds);
        // The bare server gets the bodies of the first one.
        sides.push({ server, work: { ...sides[0]?.work, ...work } });
      }
      await compare(options, sides);
    } finally {
      for (const server of servers) await server.stop();
    }
  }
}
