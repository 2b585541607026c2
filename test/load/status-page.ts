/**
 * The status page's part of `npm run bench`: heartbeats with a thousand visitors a second on a page and without, in turn
 * in one run. Visitors come from a process of their own, at a steady rate, half of them with the ETag of what they have.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { TestService } from '../support/service.js';
import { counters } from './beside.js';
import { load, median } from './generator.js';
import { heartbeatBodies } from './watchdog.js';

type Say = (text: string) => void;

const VISITORS = 1_000;
const TICKS = 50;
const MONITORS = 1_000;
const COMPONENTS = 10;
const UNLIMITED = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };

interface Visited {
  answered: number;
  known: number;
  failed: number;
  p99: number;
}

if (process.argv[2] === 'visit') visit(process.argv[3] ?? '');

/** In the process of the visitors: until it is told to stop, then says what it saw. */
function visit(url: string): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const seen: Visited = { answered: 0, known: 0, failed: 0, p99: 0 };
  const times: number[] = [];
  let tag = '';
  let n = 0;
  const one = (): void => {
    const began = performance.now();
    const headers: Record<string, string> = { 'accept-encoding': 'gzip' };
    if (n++ % 2 === 0 && tag !== '') headers['if-none-match'] = tag;
    get(url, { agent, headers }, (answer) => {
      answer.resume().on('end', () => {
        times.push(performance.now() - began);
        if (times.length === 1) process.send?.('ready');
        if (answer.statusCode === 200) tag = answer.headers.etag ?? '';
        if (answer.statusCode === 200) seen.answered++;
        else if (answer.statusCode === 304) seen.known++;
        else seen.failed++;
      });
    }).on('error', () => seen.failed++);
  };
  let due = performance.now();
  const timer = setInterval(() => {
    for (; due <= performance.now(); due += 1_000 / VISITORS) one();
  }, 1_000 / TICKS);
  process.once('message', () => {
    clearInterval(timer);
    const sorted = times.toSorted((a, b) => a - b);
    process.send?.({ ...seen, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 });
    process.disconnect();
    agent.destroy();
  });
}

async function withVisitors<T>(url: string, work: () => Promise<T>): Promise<{ result: T; seen: Visited }> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), ['visit', url]);
  await once(child, 'message');
  const result = await work();
  const told = once(child, 'message') as Promise<[Visited]>;
  child.send('stop');
  const [seen] = await told;
  return { result, seen };
}

/** Heartbeats beside heartbeats with visitors. @throws Error when somebody was refused */
export async function statusPage(say: Say, rounds: number, seconds: number): Promise<void> {
  const service = await TestService.started(UNLIMITED);
  try {
    const token = await service.token('watchdog:ping,watchdog:manage');
    const bodies = heartbeatBodies(MONITORS);
    const target = {
      url: service.url,
      method: 'POST' as const,
      bodies,
      paths: ['/api/watchdog/v1/ping'],
      headers: { authorization: `Bearer ${token}` },
    };
    await load({ ...target, seconds: 8 });
    const components = Array.from({ length: COMPONENTS }, (_, i) => ({
      name: `Part ${i}`,
      sources: Array.from({ length: 20 }, (_none, j) => `host-${i * 20 + j}/agent`),
    }));
    const page = { slug: 'bench', title: 'Bench', published: true, components };
    const made = await service.request('POST', '/api/watchdog/v1/status-pages', token, page);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    const url = `${service.url}/status-page/bench`;
    const pid = service.child?.pid ?? 0;
    const measured = async (): Promise<{ perSecond: number; p99: number; cpu: number }> => {
      const before = await counters(pid);
      const { perSecond, p99, non2xx, errors } = await load({ ...target, seconds });
      if (non2xx + errors > 0) throw new Error(`${non2xx + errors} heartbeats were refused`);
      const after = await counters(pid);
      return { perSecond, p99, cpu: ((after.cpuMs - before.cpuMs) * 1_000) / (perSecond * seconds) };
    };
    await withVisitors(url, measured);
    say(
      `\nHeartbeats, ${rounds} rounds of ${seconds} s, in turn without and with ${VISITORS} visitors a second on a page`,
    );
    const alone: Awaited<ReturnType<typeof measured>>[] = [];
    const visited: Awaited<ReturnType<typeof measured>>[] = [];
    let last: Visited | null = null;
    for (let round = 0; round < rounds; round++) {
      alone.push(await measured());
      const { result, seen } = await withVisitors(url, measured);
      visited.push(result);
      last = seen;
      if (seen.failed > 0) throw new Error(`${seen.failed} visitors were refused`);
    }
    // The price of visitors alone, in processor time, while nothing else is asked.
    const before = await counters(pid);
    const began = performance.now();
    const { seen } = await withVisitors(url, () => new Promise((resolve) => setTimeout(resolve, seconds * 1_000)));
    const took = (performance.now() - began) / 1_000;
    const idle = ((await counters(pid)).cpuMs - before.cpuMs) / 10 / took;
    const of = (rows: typeof alone, key: 'perSecond' | 'p99' | 'cpu'): number => median(rows.map((row) => row[key]));
    say(
      `  heartbeats ${of(alone, 'perSecond').toFixed(0)} /s alone (p99 ${of(alone, 'p99')} ms, ${of(alone, 'cpu').toFixed(0)} µs of processor time each), ` +
        `${of(visited, 'perSecond').toFixed(0)} /s with visitors (p99 ${of(visited, 'p99')} ms)`,
    );
    say(
      `  visitors ${((seen.answered + seen.known) / took).toFixed(0)} /s alone: ${idle.toFixed(1)} % of one core, ` +
        `p99 ${seen.p99.toFixed(1)} ms; beside heartbeats p99 ${last?.p99.toFixed(1)} ms, ${last?.known} of ${(last?.answered ?? 0) + (last?.known ?? 0)} were 304`,
    );
  } finally {
    await service.dispose();
  }
}
