/**
 * The watchdog's part of `npm run bench`: heartbeats beside the bare yardstick, the evaluator over growing numbers of
 * monitors with 1 % due, and the metric history of 14 days.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import type { MonitorDoc, MetricStats } from '../../plugins/watchdog/model/documents.js';
import { freshMonitor } from '../../plugins/watchdog/model/monitor.js';
import { chunkId, folded, rollupId, sizeOf, TAIL_CHARS } from '../../plugins/watchdog/metrics/samples.js';
import { ANYONE, ensured, fixtureOn, type Fixture } from '../plugins/watchdog/fixture.js';
import { idOf } from '../../plugins/watchdog/model/source.js';
import { TestService } from '../support/service.js';
import type { Compared } from './beside.js';
import { median } from './generator.js';
import { bareServer } from './measure.js';

type Say = (text: string) => void;
const MONITORS = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAYS = 14;
const COPIES = 5;
const EVALUATIONS = 6;
const PAUSE_MS = 2_000;
/** The target of the last one: under 300 ms. */
const EVALUATION_CASES: readonly EvaluationCase[] = [
  { size: 1_000 },
  { size: 10_000 },
  { size: 100_000 },
  { size: 100_000, scheduled: 10 },
];
const METRICS = ['cpu', 'memory', 'disk', 'load'];

const UNLIMITED = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };

/** Heartbeats with four metrics of 1,000 monitors, in turn. */
export function heartbeatBodies(monitors: number): string[] {
  return Array.from({ length: monitors }, (_, i) =>
    JSON.stringify({
      source: `host-${i}/agent`,
      status: 'ok',
      interval: 60,
      metrics: { cpu: (i % 100) + 0.25, memory: 40 + (i % 50), disk: 71.5, load: (i % 8) / 4 },
      app_version: '1.4.2',
    }),
  );
}

/** Heartbeats beside a bare hapi POST with joi of the same body. @param compared makes the figure */
export async function heartbeats(say: Say, compared: Compared): Promise<void> {
  const bare = await bareServer('./bare-heartbeat.js');
  const service = await TestService.started(UNLIMITED);
  try {
    const token = await service.token('watchdog:ping');
    const post = { method: 'POST' as const, bodies: heartbeatBodies(MONITORS) };
    say(`\nHeartbeats: ${MONITORS} monitors, 4 metrics, 16 connections, durability full`);
    const ours = { ...post, paths: ['/api/watchdog/v1/ping'], headers: { authorization: `Bearer ${token}` } };
    await compared('heartbeats', service, bare, { ...post, paths: ['/heartbeat'] }, ours);
  } finally {
    await service.dispose();
    bare.stop();
  }
}

async function withFolder(work: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-bench-'));
  try {
    await work(join(folder, 'aos.db'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function withStore(path: string, work: (fixture: Fixture) => Promise<void>): Promise<void> {
  const store = await ensured(new SqliteStore({ path }));
  try {
    const fixture = fixtureOn(store);
    await work(fixture);
    await fixture.settled();
  } finally {
    await store.close();
  }
}

/** Monitors of which the evaluator's part is made. */
export interface EvaluationCase {
  size: number;
  /** One in so many has a cron schedule in place of an interval; 0: none. */
  scheduled?: number;
}

const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];

const isScheduled = (n: number, { scheduled = 0 }: EvaluationCase): boolean =>
  scheduled > 0 && Math.floor(n / 100) % scheduled === 0;

/** Once a day, at any minute of it, in any of three zones: of those that are due in one run no two are alike. */
const scheduleOf = (n: number): Partial<MonitorDoc> => ({
  schedule: `${n % 60} ${Math.floor(n / 60) % 24} * * *`,
  timezone: ZONES[Math.floor(n / 1_440) % ZONES.length] ?? 'UTC',
  grace_seconds: 60,
});

/** Silent for this long, a monitor is down. */
const SILENT_MS = 10 * MINUTE;
const SILENT_DAY_MS = 26 * HOUR;
const lateBy = (n: number, of: EvaluationCase): number => (isScheduled(n, of) ? SILENT_DAY_MS : SILENT_MS);

/** A monitor that has just reported; each hundredth: silent for long enough to go down. */
function reported(fixture: Fixture, n: number, of: EvaluationCase): MonitorDoc {
  const now = fixture.clock.now();
  const last = n % 100 === 0 ? now - lateBy(n, of) : now;
  const at = new Date(last).toISOString();
  const own = isScheduled(n, of) ? scheduleOf(n) : {};
  const doc = { ...freshMonitor({ source: `host-${n}` }, fixture.deps.ids, last), ...own };
  const next_check_at = new Date(last + 2 * MINUTE).toISOString();
  const metrics_json = JSON.stringify({ cpu: 12.5, memory: 40, disk: 71.5, load: 0.25 });
  return { ...doc, state: 'up', last_heartbeat_at: at, last_status: 'ok', metrics_json, next_check_at };
}

/**
 * Time of a run in which 1 % of the monitors go down: it must follow what is due. The first run of a process, whose code is
 * not compiled yet, and those after it, each over another 1 %.
 */
export async function evaluation(say: Say, cases: readonly EvaluationCase[] = EVALUATION_CASES): Promise<void> {
  say(
    '\nEvaluator: 1 % of the monitors go down in the run, each with its alarm and timeline; then a run with nothing due',
  );
  for (const one of cases) {
    const { size, scheduled = 0 } = one;
    await withFolder((path) =>
      withStore(path, async (fixture) => {
        for (let i = 0; i < size; i += 1_000) {
          const docs = Array.from({ length: Math.min(1_000, size - i) }, (_, n) => reported(fixture, i + n, one));
          await fixture.deps.monitors.bulk(docs.map((doc) => ({ insert: doc })));
        }
        await fixture.outages.stamp();
        const times: number[] = [];
        const worked: number[] = [];
        for (let round = 0; round < EVALUATIONS; round++) {
          if (round > 0) await fallSilent(fixture, one, round);
          // Runs are at least as far apart: what the last one left to be settled is done by then.
          await setTimeout(PAUSE_MS);
          const before = process.cpuUsage();
          const began = performance.now();
          const done = await fixture.evaluator.evaluate('http');
          times.push(performance.now() - began);
          const { user, system } = process.cpuUsage(before);
          worked.push((user + system) / 1000);
          if (done?.run.to_down !== size / 100) throw new Error(`${done?.run.to_down} went down, not 1 %`);
          await fixture.settled();
        }
        await setTimeout(PAUSE_MS);
        const again = performance.now();
        await fixture.evaluator.evaluate('http');
        const idle = performance.now() - again;
        const [first = 0, ...warm] = times;
        const [firstWork = 0, ...warmWork] = worked;
        const ms = (time: number): string => `${time.toFixed(0).padStart(4)} ms`;
        const which = scheduled === 0 ? '' : `, one in ${scheduled} with a schedule`;
        say(
          `  ${String(size).padStart(7)} monitors${which}: ${String(size / 100).padStart(5)} went down in ${ms(first)} (first), ${ms(median(warm))} (median of ${warm.length} more); CPU of all threads ${ms(firstWork)}, ${ms(median(warmWork))}; nothing due: ${ms(idle)}`,
        );
      }),
    );
  }
}

/** Another 1 % has not reported for as long as takes it down. */
async function fallSilent({ deps, clock }: Fixture, of: EvaluationCase, round: number): Promise<void> {
  const late = Array.from({ length: of.size / 100 }, (_, n) => n * 100 + round);
  const changes = late.map((n) => {
    const last = clock.now() - lateBy(n, of);
    const set = {
      last_heartbeat_at: new Date(last).toISOString(),
      next_check_at: new Date(last + MINUTE).toISOString(),
    };
    return { change: { id: idOf(`host-${n}`) }, update: { set } };
  });
  await deps.monitors.bulk(changes);
}

/** 14 days at one minute, four metrics: bytes per sample, and the time of the queries that the pages make. */
export async function history(say: Say): Promise<void> {
  say(`\nMetric history: ${DAYS} days at one minute, ${METRICS.length} metrics`);
  await withFolder(async (path) => {
    await withStore(path, async () => undefined);
    const empty = (await stat(path)).size;
    await withStore(path, async (fixture) => {
      for (let i = 0; i < COPIES; i++) await fill(fixture, `host-${i}`);
    });
    // Closed, so that the log holds nothing of it any more.
    const samples = DAYS * 24 * 60 * METRICS.length * COPIES;
    say(`  ${(((await stat(path)).size - empty) / samples).toFixed(1)} bytes per sample (${samples} samples)`);
    await withStore(path, async (fixture) => {
      for (const hours of [24, 168, 336]) {
        const times: number[] = [];
        for (let n = 0; n < 9; n++) {
          const began = performance.now();
          const found = await fixture.histories.history(await fixture.monitors.need('host-0', ANYONE), { hours });
          times.push(performance.now() - began);
          if (Object.keys(found.metrics).length !== METRICS.length) throw new Error('metrics are missing');
        }
        say(`  ${String(hours).padStart(4)} h, 300 points, baseline and deviation: ${median(times).toFixed(1)} ms`);
      }
    });
  });
}

/** What the heartbeats of 14 days leave behind, written at once. */
async function fill({ deps, clock }: Fixture, source: string): Promise<void> {
  const end = clock.now();
  const start = end - DAYS * 24 * HOUR;
  const doc = freshMonitor({ source }, deps.ids, start);
  let stats: (MetricStats | null)[] = [];
  for (let t = start; t < end; t += MINUTE) {
    const hour = Math.floor(t / HOUR);
    const values = METRICS.map((_, i) => Math.round(1000 * (50 + i * 10 + 10 * Math.sin(t / HOUR + i))) / 100);
    const pairs = values.map((value, i) => `,${i},${value}`).join('');
    const ended = doc.tail !== '' && hour !== Math.floor(doc.tail_base / HOUR);
    if (ended || doc.tail.length + pairs.length > TAIL_CHARS) {
      const { series, tail, tail_base } = doc;
      const rows = JSON.parse(`[${tail}]`) as number[][];
      const id = chunkId(series, doc.chunk++);
      const to = tail_base + (rows.at(-1)?.[0] ?? 0);
      await deps.chunks.insert({ id, series, from: tail_base, to, base: tail_base, rows: tail, size: tail.length });
      stats = folded(stats, rows, tail_base % HOUR);
      doc.tail = '';
      if (ended) {
        const over = hour - 1;
        await deps.rollups.insert({ id: rollupId(series, over), series, hour: over, rows: stats, size: sizeOf(stats) });
        stats = [];
      }
    }
    if (doc.tail === '') doc.tail_base = t;
    doc.tail += `${doc.tail === '' ? '' : ','}[${t - doc.tail_base}${pairs}]`;
  }
  const hour = JSON.stringify({ hour: Math.floor(doc.tail_base / HOUR), rows: stats });
  const at = new Date(end).toISOString();
  await deps.monitors.insert({ ...doc, state: 'up', last_heartbeat_at: at, names: METRICS, hour });
}
