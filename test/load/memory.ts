/**
 * `npm run bench -- memory`: what the process holds when nobody asks it anything, and under ten minutes of mixed load in a
 * group of processes that may have 256 MB together (Linux, as root; elsewhere the load runs without the limit, and says
 * so), started with deploy/small.env. `BENCH_MINUTES` and `BENCH_MEMORY_MB` change both.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { TestService } from '../support/service.js';
import { smallEnv } from '../support/small-env.js';
import { load, median, type Load } from './generator.js';
import { residentMb } from './measure.js';
import { envelopeSource } from './sentry-envelope.js';
import { heartbeatBodies } from './watchdog.js';

type Say = (text: string) => void;

const MINUTES = Number(process.env['BENCH_MINUTES'] ?? 10);
const LIMIT_MB = Number(process.env['BENCH_MEMORY_MB'] ?? 256);
const IDLE_S = 60;
const MONITORS = 1_000;
const NEW_GROUPS_PER_SECOND = 20;
const UNLIMITED = Object.fromEntries(
  ['INTAKE_PER_MINUTE', 'INTAKE_BURST', 'API_PER_MINUTE', 'PUBLIC_PER_MINUTE'].map((key) => [
    `SVC_LIMITS__${key}`,
    '0',
  ]),
);

/** A group of processes with a limit of memory. */
interface Group {
  /** Runs what starts a process, which then belongs to the group from its first page on. */
  starting<T>(work: () => Promise<T>): Promise<T>;
  /** The most that was held, files that the system keeps in memory included, in MB; and how often the limit was met. */
  held(): Promise<{ mostMb: number; met: number }>;
  remove(): Promise<void>;
}

const FORMS = [
  {
    root: '/sys/fs/cgroup/memory',
    known: 'memory.limit_in_bytes',
    limit: 'memory.limit_in_bytes',
    most: 'memory.max_usage_in_bytes',
    met: 'memory.failcnt',
  },
  {
    root: '/sys/fs/cgroup',
    known: 'cgroup.controllers',
    limit: 'memory.max',
    most: 'memory.peak',
    met: 'memory.events',
  },
];

/** Null where this process may make none. */
async function group(limitMb: number): Promise<Group | null> {
  const form = FORMS.find(({ root, known }) => existsSync(join(root, known)));
  if (form === undefined) return null;
  const folder = join(form.root, `aos-bench-${process.pid}`);
  try {
    await mkdir(folder);
    await writeFile(join(folder, form.limit), String(limitMb * 1024 * 1024));
  } catch {
    return null;
  }
  const number = async (file: string): Promise<number> => {
    const text = await readFile(join(folder, file), 'utf8');
    return Number(/^(?:max )?(\d+)$/m.exec(text)?.[1] ?? NaN);
  };
  return {
    starting: async (work) => {
      await writeFile(join(folder, 'cgroup.procs'), String(process.pid));
      try {
        return await work();
      } finally {
        await writeFile(join(form.root, 'cgroup.procs'), String(process.pid));
      }
    },
    held: async () => ({ mostMb: (await number(form.most)) / 1024 / 1024, met: await number(form.met) }),
    remove: () => rmdir(folder),
  };
}

/** @param bodies of known groups. @throws when the process ended, or an answer was an error */
export async function memoryFigures(say: Say, bodies: string[]): Promise<void> {
  const limited = await group(LIMIT_MB);
  const service = await TestService.create({ ...UNLIMITED, ...(await smallEnv()) });
  try {
    const began = await (limited === null ? service.start() : limited.starting(() => service.start()));
    const { child } = service;
    const pid = child?.pid ?? 0;
    await pause(IDLE_S * 1000);
    say(
      `\nMemory: listening after ${began.toFixed(0)} ms; idle for ${IDLE_S} s: ${(await residentMb(pid)).toFixed(0)} MB`,
    );
    await service.project('bench');
    const token = await service.token('bugtracker:report,bugtracker:read,bugtracker:manage,watchdog:ping');
    const seen: number[] = [];
    const watching = new AbortController();
    const watched = watch(pid, seen, watching.signal);
    const results = await Promise.all(
      Object.entries(mixed(token, bodies)).map(async ([name, target]): Promise<[string, Load]> => {
        return [name, await load({ ...target, url: service.url, seconds: MINUTES * 60 })];
      }),
    );
    watching.abort();
    await watched;
    for (const [name, { perSecond, p50, p99, non2xx, errors }] of results)
      say(
        `  ${name.padEnd(16)} ${perSecond.toFixed(0).padStart(6)} /s  p50 ${p50}  p99 ${p99} ms  refused ${non2xx}  failed ${errors}`,
      );
    say(`  ${MINUTES} minutes: median ${median(seen).toFixed(0)} MB, most ${Math.max(...seen).toFixed(0)} MB`);
    if (limited === null) say('  without a limit: this process may make no group of processes');
    else {
      const { mostMb, met } = await limited.held();
      say(
        `  in a group of ${LIMIT_MB} MB: most ${mostMb.toFixed(0)} MB with files kept in memory; the limit was met ${met} times`,
      );
    }
    if (child === null || child.exitCode !== null || child.signalCode !== null) throw new Error('the service ended');
    const wrong = results.filter(([, { non2xx, errors }]) => non2xx + errors > 0);
    if (wrong.length > 0) throw new Error(`refused: ${wrong.map(([name]) => name).join(', ')}`);
    await pause(IDLE_S * 1000);
    say(`  idle for ${IDLE_S} s afterwards: ${(await residentMb(pid)).toFixed(0)} MB`);
  } finally {
    await service.dispose();
    await limited?.remove();
  }
}

/** What comes at the same time: reports of applications, monitors, a person and agents that look. */
function mixed(token: string, bodies: string[]): Record<string, Omit<Parameters<typeof load>[0], 'url' | 'seconds'>> {
  const headers = { authorization: `Bearer ${token}` };
  const post = { method: 'POST', headers, connections: 4 } as const;
  let n = 0;
  const [template = ''] = bodies;
  const fresh = (): string => {
    const own = (n++).toString(26).replaceAll(/./g, (digit) => String.fromCharCode(97 + Number.parseInt(digit, 26)));
    return template.replaceAll('Failure0', `Failure${own}`).replaceAll('could not', `${own} could not`);
  };
  return {
    'known reports': { ...post, paths: ['/api/errors/v1/report'], bodies },
    'new groups': { ...post, paths: ['/api/errors/v1/report'], source: fresh, rate: NEW_GROUPS_PER_SECOND },
    envelopes: {
      ...post,
      paths: ['/api/1/envelope/'],
      source: envelopeSource(200, 4096),
      type: 'application/x-sentry-envelope',
      headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${token}` },
    },
    heartbeats: { ...post, paths: ['/api/watchdog/v1/ping'], bodies: heartbeatBodies(MONITORS) },
    lists: { method: 'GET', headers, connections: 2, paths: ['/api/bugtracker/v1/bugs'] },
  };
}

/** Reads each second what the process holds, until it ends: the system kills what its group has no room for. */
async function watch(pid: number, seen: number[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const held = await residentMb(pid).catch(() => null);
    if (held === null) return;
    seen.push(held);
    await pause(1000, undefined, { signal }).catch(() => undefined);
  }
}
