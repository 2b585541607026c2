/**
 * `npm run bench -- loop`: how long the event loop answers nobody, with 100,000 items and 40,000 monitors (`BENCH_ITEMS`), part by
 * part: reading, intake, `/status`, publishing, export and backup. The service carries `loop-probe.ts`. `LOOP_PROFILE=1` names the
 * functions of each long slice, and costs time itself.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { WebSession } from '../pages/web-session.js';
import { tarEntry } from '../support/archives.js';
import { ADMIN, CLI, TestService } from '../support/service.js';
import { load } from './generator.js';
import { EDGES_MS, type LoopReport } from './loop-probe.js';
import { seedItems } from './seed.js';
import { seedMonitors } from './seed-monitors.js';
import { heartbeatBodies } from './watchdog.js';

const PROJECTS = Array.from({ length: 5 }, (_, i) => `shop${i}`);
const MONITORS = 40_000;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10);
const LONG_MS = 20;
const MIB = 1024 * 1024;
const PACKAGE = 40 * MIB;
const PAGES = ['/', '/bugs', '/errors', '/monitors', '/hierarchy', '/releases', '/search?q=shop3', '/system'];

/** What the loop did since the last call. */
async function reportOf(service: TestService, file: string): Promise<LoopReport> {
  await rm(file, { force: true });
  service.child?.kill('SIGUSR2');
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text !== null) return JSON.parse(text) as LoopReport;
    await pause(50);
  }
}

/** A command of the service beside it. @throws when it fails */
async function aos(service: TestService, words: string[]): Promise<void> {
  const { NODE_OPTIONS: _, ...env } = service.env;
  const child = spawn(process.execPath, [CLI, ...words], { env, stdio: 'ignore' });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`aos ${words.join(' ')} → ${code}`);
}

async function publish(service: TestService, token: string, version: string): Promise<void> {
  const content = randomBytes(PACKAGE).toString('latin1');
  const body = gzipSync(Buffer.concat([tarEntry({ name: 'app.bin', content }), Buffer.alloc(1024)]), { level: 1 });
  const response = await fetch(`${service.url}/api/updateservice/v1/publish?product=shop0&version=${version}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
    body,
  });
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}

const longest = (values: number[]): number => Math.max(0, ...values);
const ms = (value: number): string => value.toFixed(1).padStart(8);

function told(part: string, { p50, p99, max, longestGc, counts, slices }: LoopReport): string {
  const own = slices.map(({ cpu, gc }) => cpu - gc).filter((time) => time > LONG_MS);
  const figures = [p50, p99, max, longestGc, longest(slices.map(({ cpu }) => cpu)), longest(own)].map(ms).join(' ');
  const histogram = counts.map((count) => String(count).padStart(6)).join('');
  return `  ${part.padEnd(28)} ${figures} ${String(own.length).padStart(6)}   ${histogram}`;
}

/**
 * @param items of all projects together
 * @param bodies of known groups
 */
export async function loopFigures(
  say: (text: string) => void,
  items: number,
  bodies: string[],
  unlimited: Record<string, string>,
): Promise<void> {
  const probe = `--import=${new URL('./loop-probe.js', import.meta.url).href}`;
  const service = await TestService.create(unlimited);
  const file = join(service.dataDir, 'loop.json');
  try {
    await service.start();
    for (const slug of [...PROJECTS, 'bench']) await service.project(slug);
    const token = await service.token(
      'bugtracker:report,bugtracker:read,bugtracker:manage,watchdog:ping,watchdog:read,updateservice:publish',
    );
    await service.end();
    seedItems(service.dataDir, PROJECTS, items);
    seedMonitors(service.dataDir, PROJECTS, MONITORS);
    Object.assign(service.env, { NODE_OPTIONS: probe, LOOP_REPORT: file });
    await service.start();
    const session = new WebSession(service.url);
    if ((await session.signIn(ADMIN.username, ADMIN.password)) !== 303) throw new Error('no login');

    const headers = { authorization: `Bearer ${token}` };
    const answered = async (target: Omit<Parameters<typeof load>[0], 'url' | 'headers'>): Promise<void> => {
      const { non2xx } = await load({ ...target, url: service.url, headers });
      if (non2xx > 0) throw new Error(`${target.paths?.join()} refused ${non2xx}`);
    };
    const calls = (path: string, seconds = SECONDS, connections = 4): Promise<void> =>
      answered({ method: 'GET', paths: [path], connections, seconds });
    const sent = (path: string, all: string[]): Promise<void> =>
      answered({ method: 'POST', paths: [path], bodies: all, seconds: SECONDS, connections: 4 });
    const intake = (): Promise<unknown> =>
      Promise.all([sent('/api/errors/v1/report', bodies), sent('/api/watchdog/v1/ping', heartbeatBodies(10_000))]);
    const pages = async (): Promise<void> => {
      for (const end = performance.now() + SECONDS * 1000; performance.now() < end;)
        for (const path of PAGES) {
          const { status } = await session.get(path);
          if (status !== 200) throw new Error(`${path} answered ${status}`);
        }
    };
    const archive = join(service.dataDir, 'loop.tar.gz');
    const parts: [string, () => Promise<unknown>][] = [
      ['the end of the start', () => pause(3_000)],
      ['idle', () => pause(SECONDS * 1000)],
      ['lists', () => calls('/api/bugtracker/v1/bugs')],
      ['pages', pages],
      ['intake, heartbeats', () => intake()],
      [`/status, ${MONITORS} monitors`, () => calls('/api/watchdog/v1/status', SECONDS, 2)],
      ['openapi.json, asked first', () => calls('/api/openapi.json', 1, 1)],
      [
        'publishing 40 MB, three times',
        async () => {
          for (const version of ['1.0.0', '1.1.0', '1.2.0']) await publish(service, token, version);
        },
      ],
      ['a backup beside intake', () => Promise.all([aos(service, ['backup', archive]), intake()])],
      ['an export beside intake', () => Promise.all([aos(service, ['export', `${archive}.export`]), intake()])],
    ];
    say(
      `\nThe event loop with ${items} items and ${MONITORS} monitors: milliseconds; a slice counts by its processor time`,
    );
    say(`  ${''.padEnd(28)}    delay                     collector  slice    without`);
    say(
      `  ${''.padEnd(28)}      p50      p99     most     most     most collector  over ${LONG_MS}   ${EDGES_MS.map((edge) => `≤${edge}`.padStart(6)).join('')}   more`,
    );
    for (const [name, work] of parts) {
      await work();
      const report = await reportOf(service, file);
      say(told(name, report));
      for (const { cpu, gc, where } of report.slices)
        if (cpu - gc > LONG_MS && where.length > 0)
          say(`      ${cpu.toFixed(0)} ms, collector ${gc.toFixed(0)}: ${where.join(', ')}`);
    }
  } finally {
    await service.dispose();
  }
}
