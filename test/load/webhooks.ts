/**
 * Figures of the webhooks (issue 4), from the real program on the embedded store at `full` durability; receivers are in
 * this process, so all clocks are one.
 *
 *  1. Latency from commit to first attempt, 1 and 100 webhooks, the service idle otherwise. The commit is taken as the
 *     time in the event, which is a little before it: the figure is an upper bound.
 *  2. Events per second through the outbox with 0, 1, 10 and 100 webhooks: distinct bug reports as fast as they go, until
 *     the last delivery has arrived.
 *  3. Intake with ten webhooks against intake with none, the two in turn and often: errors (200 groups, all of them known
 *     by then), and distinct bug reports, each of which is an event. Beside the rates stands the processor time of the
 *     service per report, which a busy machine disturbs less.
 *  4. One receiver alone against the same beside ten that never answer, in turn.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestService } from '../support/service.js';
import { load, median } from './generator.js';

const UNLIMITED = Object.fromEntries(
  ['intake_per_minute', 'intake_burst', 'api_per_minute'].map((key) => [`SVC_LIMITS__${key.toUpperCase()}`, '0']),
);
const CALLERS = 16;

interface Sink {
  url: string;
  /** Called for every delivery, with the milliseconds since its event. */
  seen: (sinceEvent: number) => void;
  count: number;
  close(): Promise<void>;
}

async function sink(): Promise<Sink> {
  const server = http.createServer((request, response) => {
    const at = Date.now();
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      made.count += 1;
      made.seen(at - Date.parse((JSON.parse(body) as { timestamp: string }).timestamp));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const made: Sink = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    seen: () => undefined,
    count: 0,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return made;
}

interface Bench {
  service: TestService;
  token: string;
  to: Sink;
  webhooks: number;
  stop(): Promise<void>;
}

async function bench(webhooks: number): Promise<Bench> {
  const to = await sink();
  const service = await TestService.started(UNLIMITED);
  await service.project('bench');
  const token = await service.token('bugtracker:report,webhooks:manage');
  for (let i = 0; i < webhooks; i++) {
    const hook = { name: `receiver ${i}`, url: to.url, events: '*' };
    const { status } = await service.request('POST', '/api/webhooks/v1/webhooks', token, hook);
    if (status !== 201) throw new Error(`creating a webhook answered ${status}`);
  }
  const stop = async (): Promise<void> => {
    await service.dispose();
    await to.close();
  };
  return { service, token, to, webhooks, stop };
}

let reported = 0;
async function report({ service, token }: Bench): Promise<void> {
  const n = ++reported;
  const bug = { project: 'bench', title: `bug ${n}`, file_path: `src/f${n}.ts` };
  const { status } = await service.request('POST', '/api/bugtracker/v1/report', token, bug);
  if (status !== 201) throw new Error(`a report answered ${status}`);
}

/** Resolves when `n` deliveries have arrived. */
async function arrived(to: Sink, n: number): Promise<void> {
  const end = Date.now() + 300_000;
  while (to.count < n) {
    if (Date.now() > end) throw new Error(`${to.count} of ${n} deliveries arrived`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const quantile = (sorted: readonly number[], q: number): number => sorted[Math.floor(sorted.length * q)] ?? NaN;

async function latency(webhooks: number, events: number, say: (text: string) => void): Promise<void> {
  const b = await bench(webhooks);
  try {
    for (let i = 0; i < 5; i++) {
      await report(b);
      await arrived(b.to, webhooks * (i + 1));
    }
    const times: number[] = [];
    b.to.seen = (ms) => times.push(ms);
    const before = b.to.count;
    for (let i = 1; i <= events; i++) {
      await report(b);
      await arrived(b.to, before + webhooks * i);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const sorted = times.toSorted((x, y) => x - y);
    say(
      `  ${String(webhooks).padStart(3)} webhooks: p50 ${quantile(sorted, 0.5)} ms, p99 ${quantile(sorted, 0.99)} ms, longest ${sorted.at(-1)} ms (${sorted.length} deliveries)`,
    );
  } finally {
    await b.stop();
  }
}

async function throughput(webhooks: number, events: number, say: (text: string) => void): Promise<void> {
  const b = await bench(webhooks);
  try {
    await report(b);
    await arrived(b.to, webhooks);
    const began = performance.now();
    let left = events;
    const caller = async (): Promise<void> => {
      while (left-- > 0) await report(b);
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    const taken = (performance.now() - began) / 1000;
    await arrived(b.to, webhooks * (events + 1));
    const drained = (performance.now() - began) / 1000;
    const deliveries = webhooks === 0 ? '' : `, ${((events * webhooks) / drained).toFixed(0)} deliveries /s`;
    say(
      `  ${String(webhooks).padStart(3)} webhooks: ${(events / taken).toFixed(0)} events /s taken, ${(events / drained).toFixed(0)} events /s through${deliveries}`,
    );
  } finally {
    await b.stop();
  }
}

/** Reports per second, all distinct, each an event. */
async function bugs(b: Bench, seconds: number): Promise<number> {
  const began = performance.now();
  let n = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1000) {
      await report(b);
      n += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return n / ((performance.now() - began) / 1000);
}

/** Error reports per second. */
async function errorsOf({ service, token }: Bench, bodies: readonly string[], seconds: number): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const paths = ['/api/errors/v1/report'];
  const l = await load({ url: service.url, method: 'POST', paths, bodies: [...bodies], headers, seconds });
  if (l.non2xx + l.errors > 0) throw new Error(`${l.non2xx + l.errors} reports were refused`);
  return l.perSecond;
}

/** Processor time of the service so far, in milliseconds; NaN where the system does not tell. */
async function cpu({ service }: Bench): Promise<number> {
  const stat = await readFile(`/proc/${service.child?.pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime and stime, in ticks of a hundredth of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const SLICE_S = 2;

async function intake(
  name: string,
  run: (b: Bench, seconds: number) => Promise<number>,
  say: (text: string) => void,
  rounds: number,
): Promise<void> {
  const none = await bench(0);
  const ten = await bench(10);
  const slice = async (b: Bench): Promise<{ rate: number; cost: number }> => {
    const before = await cpu(b);
    const rate = await run(b, SLICE_S);
    return { rate, cost: ((await cpu(b)) - before) / (rate * SLICE_S) };
  };
  try {
    for (const b of [none, ten, none, ten]) await run(b, 3);
    const [rates, costs]: [number[], number[]] = [[], []];
    const seen: { none: number[]; ten: number[] } = { none: [], ten: [] };
    for (let round = 0; round < rounds * 3; round++) {
      const first = await slice(round % 2 === 0 ? none : ten);
      const second = await slice(round % 2 === 0 ? ten : none);
      const [without, beside] = round % 2 === 0 ? [first, second] : [second, first];
      rates.push(beside.rate / without.rate);
      costs.push(beside.cost / without.cost);
      seen.none.push(without.rate);
      seen.ten.push(beside.rate);
    }
    const listed = rates.map((r) => r.toFixed(2)).join(' ');
    say(`  ${name}: none ${median(seen.none).toFixed(0)} /s, ten webhooks ${median(seen.ten).toFixed(0)} /s`);
    say(`  ${name}: ratio ${median(rates).toFixed(2)} (${listed}); processor time ${median(costs).toFixed(2)} times`);
  } finally {
    await none.stop();
    await ten.stop();
  }
}

/** Ten receivers that never answer, and an eleventh. */
async function hanging(events: number, say: (text: string) => void): Promise<void> {
  const alone = await bench(1);
  const beside = await bench(1);
  const never = http.createServer((request) => request.resume());
  never.listen(0, '127.0.0.1');
  await once(never, 'listening');
  const url = `http://127.0.0.1:${(never.address() as AddressInfo).port}/`;
  try {
    for (let i = 0; i < 10; i++) {
      const hook = { name: `never ${i}`, url, events: '*' };
      await beside.service.request('POST', '/api/webhooks/v1/webhooks', beside.token, hook);
    }
    const times = new Map<Bench, number[]>([
      [alone, []],
      [beside, []],
    ]);
    for (let i = 0; i < events + 5; i++) {
      for (const [b, list] of times) {
        const n = b.to.count;
        b.to.seen = (ms) => void (i >= 5 && list.push(ms));
        await report(b);
        await arrived(b.to, n + 1);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    for (const [b, list] of times) {
      const sorted = list.toSorted((x, y) => x - y);
      say(
        `  ${b === alone ? 'alone                     ' : 'beside ten that never answer'}: p50 ${quantile(sorted, 0.5)} ms, p99 ${quantile(sorted, 0.99)} ms (${sorted.length} deliveries)`,
      );
    }
  } finally {
    await alone.stop();
    await beside.stop();
    never.closeAllConnections();
    never.close();
  }
}

/**
 * Called by `npm run bench`.
 * @param errors bodies of error reports for the project `bench`
 */
export async function webhookFigures(
  say: (text: string) => void,
  errors: readonly string[],
  rounds = 3,
): Promise<void> {
  say('\nWebhooks: from commit to first attempt, idle otherwise');
  await latency(1, 100, say);
  await latency(100, 40, say);
  say('\nWebhooks: through the outbox, 16 callers');
  await throughput(0, 3_000, say);
  await throughput(1, 1_000, say);
  await throughput(10, 500, say);
  await throughput(100, 100, say);
  say('\nWebhooks: intake with ten webhooks against none, in turn');
  await intake('errors, 200 groups', (b, seconds) => errorsOf(b, errors, seconds), say, rounds);
  await intake('bug reports, each an event', bugs, say, rounds);
  say('\nWebhooks: one receiver alone and beside ten that never answer, in turn');
  await hanging(100, say);
}
