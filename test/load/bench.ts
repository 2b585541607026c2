/**
 * `npm run bench`: figures as ratios, side by side in one run, because machines are noisy and absolute times lie.
 *
 *  1. Error intake on the embedded store at `full` durability (200 groups, 1 KB bodies) against a bare hapi POST with
 *     joi of the same body that stores nothing; 16 connections, the two in turn.
 *  2. A list page over 20,000 items against one over 1,000.
 *
 * The figures of webhooks and of the watchdog are in files of their own and run when they are named.
 *
 * The load comes from this process; each server is a process of its own on loopback.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { TestService } from '../support/service.js';
import { load, median, type Load } from './generator.js';
import { evaluation, heartbeats, history } from './watchdog.js';
import { webhookFigures } from './webhooks.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5);
const WARM_UP = Number(process.env['BENCH_WARM_UP'] ?? 8);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** 200 groups of about 1 KB: a message with changing values, a short stack, a little context. */
export function errorBodies(project: string, groups: number, bytes: number): string[] {
  return Array.from({ length: groups }, (_, g) => {
    const report = {
      project,
      error_level: 'error',
      error_message: `Order 'A-${1000 + g}' of customer 4711${g} could not be loaded`,
      exception_class: `Shop.Orders.Failure${g}`,
      file: `src/orders/module${g}.ts`,
      line: 10 + g,
      stack_trace: '',
      environment: 'production',
      app_version: '1.4.2',
      host: 'web-1',
      tags: ['shop', 'eu'],
      context: { order: 1000 + g, region: 'eu-1' },
    };
    const frame = `    at load${g} (/srv/app/src/orders/module${g}.ts:${g + 1}:13)\n`;
    const room = Math.max(1, Math.floor((bytes - JSON.stringify(report).length) / (frame.length + 1)));
    report.stack_trace = `Failure: could not be loaded\n${frame.repeat(room)}`;
    return JSON.stringify(report);
  });
}

async function bareServer(): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./bare.js', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.on('error', reject);
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /listening on (\S+)/.exec(chunk.toString('utf8'))?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { url, stop: () => void child.kill() };
}

/** Resident memory of a process in megabytes (Linux). */
async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

const row = (name: string, l: Load): string =>
  `  ${name.padEnd(26)} ${l.perSecond.toFixed(0).padStart(7)} /s   p50 ${String(l.p50).padStart(3)} ms   p99 ${String(l.p99).padStart(3)} ms   refused ${l.non2xx + l.errors}`;

const UNLIMITED = Object.fromEntries(
  ['intake_per_minute', 'intake_burst', 'api_per_minute', 'public_per_minute'].map((key) => [
    `SVC_LIMITS__${key.toUpperCase()}`,
    '0',
  ]),
);

async function intake(): Promise<void> {
  const bare = await bareServer();
  const service = await TestService.started(UNLIMITED);
  try {
    await service.project('bench');
    const token = await service.token('bugtracker:report');
    const bodies = errorBodies('bench', 200, 1024);
    const bytes = Math.round(bodies.reduce((sum, b) => sum + b.length, 0) / bodies.length);
    say(
      `\nError intake: 200 groups, ${bytes} bytes a body, 16 connections, durability full, ${ROUNDS} rounds of ${SECONDS} s each, in turn`,
    );
    const headers = { authorization: `Bearer ${token}` };
    const ours = {
      url: service.url,
      method: 'POST' as const,
      paths: ['/api/errors/v1/report'],
      bodies,
      headers,
      seconds: SECONDS,
    };
    const theirs = { url: bare.url, method: 'POST' as const, paths: ['/report'], bodies, seconds: SECONDS };
    // Both warm: the figures are those of a server that has been running, not of its compiler.
    await load({ ...theirs, seconds: WARM_UP });
    await load({ ...ours, seconds: WARM_UP });
    const ratios: number[] = [];
    const p99: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const a = await load(theirs);
      const b = await load(ours);
      say(row('bare hapi POST with joi', a));
      say(row('error intake', b));
      ratios.push(b.perSecond / a.perSecond);
      p99.push(b.p99);
      if (b.non2xx + b.errors > 0) throw new Error('the service refused reports');
    }
    const memory = await residentMb(service.child?.pid ?? 0);
    say(
      `  ratio ${median(ratios).toFixed(2)} (${ratios.map((r) => r.toFixed(2)).join(' ')}), p99 ${median(p99)} ms, memory ${memory.toFixed(0)} MB`,
    );
  } finally {
    await service.dispose();
    bare.stop();
  }
}

async function lists(): Promise<void> {
  const service = await TestService.started(UNLIMITED);
  try {
    const token = await service.token('bugtracker:report,bugtracker:read');
    const fill = async (project: string, items: number): Promise<void> => {
      await service.project(project);
      const reports = Array.from({ length: items }, (_, i) => ({
        project,
        error_level: 'error',
        error_message: 'boom',
        exception_class: `Failure${i}`,
        file: `src/f${i}.ts`,
      }));
      const lanes = Array.from({ length: 8 }, (_, lane) => lane);
      await Promise.all(
        lanes.map(async (lane) => {
          for (let i = lane * 100; i < reports.length; i += 800) {
            const answer = await service.request('POST', '/api/errors/v1/report', token, reports.slice(i, i + 100));
            if (answer.status !== 200) throw new Error(`filling answered ${answer.status}`);
          }
        }),
      );
    };
    await fill('small', 1000);
    await fill('large', 20_000);
    say(`\nList page (50 items, newest first): 20,000 items against 1,000, 1 connection, ${ROUNDS} rounds in turn`);
    const headers = { authorization: `Bearer ${token}` };
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const page = (project: string): Promise<Load> =>
        load({
          url: service.url,
          method: 'GET',
          paths: [`/api/bugtracker/v1/bugs?project=${project}`],
          headers,
          connections: 1,
          seconds: 2,
        });
      const small = await page('small');
      const large = await page('large');
      say(row('1,000 items', small));
      say(row('20,000 items', large));
      ratios.push(small.perSecond / large.perSecond);
    }
    say(
      `  time of 20,000 over time of 1,000: ${median(ratios).toFixed(2)} (${ratios.map((r) => r.toFixed(2)).join(' ')})`,
    );
  } finally {
    await service.dispose();
  }
}

say(`Node ${process.version}, ${process.platform} ${process.arch}`);
/** `npm run bench` runs the first two; `npm run bench -- webhooks heartbeats` what is named. */
const PARTS: Record<string, () => Promise<void>> = {
  intake,
  lists,
  webhooks: () => webhookFigures(say, errorBodies('bench', 200, 1024)),
  heartbeats: () => heartbeats(say, ROUNDS, SECONDS),
  evaluation: () => evaluation(say),
  history: () => history(say),
};
const named = process.argv.slice(2);
for (const name of named.length > 0 ? named : ['intake', 'lists']) {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`no part ${name}; there are ${Object.keys(PARTS).join(', ')}`);
  await part();
}
