/**
 * Loaded into the measured service before its own code (`--import`): notes every slice in which its event loop answered
 * nobody, and which part of it was V8's collector. At SIGUSR2 it writes what it saw into the file `LOOP_REPORT`, and
 * begins anew.
 *
 * A slice is told by its processor time, where the system tells that of a thread: on a busy machine a thread waits for
 * its turn, which no program can mend.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Milliseconds. */
export interface Slice {
  /** After the start of the process. */
  at: number;
  wall: number;
  /** Processor time of the thread; equal to `wall` where it is not told. */
  cpu: number;
  /** Of it, the collector. */
  gc: number;
  /** Functions that ran longest in it; only with `LOOP_PROFILE`. */
  where: string[];
}

export interface LoopReport {
  /** Of the delay of a timer. */
  p50: number;
  p99: number;
  max: number;
  /** The longest pause of the collector. */
  longestGc: number;
  /** How many slices took so much processor time at most, by `EDGES_MS`; the last number is of those above all. */
  counts: number[];
  slices: Slice[];
}

const EVERY_MS = 5;
export const EDGES_MS = [2, 5, 10, 20, 50];
/** From here on a slice is noted. */
const LONG_MS = 20;
const MOST = 1_000;

/** Milliseconds that this thread was at work. */
function threadMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return NaN;
  }
}

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

class Profiler {
  readonly #session = new Session();
  #began = 0;

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.setSamplingInterval', { interval: 500 });
    this.#start();
  }

  #start(): void {
    this.#session.post('Profiler.start');
    this.#began = performance.now();
  }

  /** Names each slice's functions, and begins anew. */
  name(slices: Slice[]): void {
    this.#session.post('Profiler.stop', (_error: unknown, { profile }: { profile: Profile }) => {
      const names = new Map(profile.nodes.map(({ id, callFrame: c }) => [id, `${c.functionName}:${c.lineNumber}`]));
      let at = this.#began;
      const seen = profile.samples.map((id, i) => [(at += (profile.timeDeltas[i] ?? 0) / 1000), id] as const);
      for (const slice of slices) {
        const times = new Map<string, number>();
        for (const [time, id] of seen)
          if (time >= slice.at && time <= slice.at + slice.wall)
            times.set(names.get(id) ?? '', (times.get(names.get(id) ?? '') ?? 0) + 1);
        slice.where = [...times]
          .toSorted(([, a], [, b]) => b - a)
          .slice(0, 6)
          .map(([name, samples]) => `${name} ${samples}`);
      }
    });
    this.#start();
  }
}

function watch(file: string): void {
  const delay = monitorEventLoopDelay({ resolution: EVERY_MS });
  delay.enable();
  const profiler = process.env['LOOP_PROFILE'] === undefined ? null : new Profiler();
  let slices: Slice[] = [];
  const none = (): number[] => Array.from({ length: EDGES_MS.length + 1 }, () => 0);
  let counts = none();
  let collections: { startTime: number; duration: number }[] = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) collections.push({ startTime, duration });
  }).observe({ entryTypes: ['gc'] });

  let last = performance.now();
  let worked = threadMs();
  setInterval(() => {
    const now = performance.now();
    const wall = now - last;
    const total = threadMs();
    const cpu = Number.isNaN(total) ? wall : Math.min(wall, total - worked);
    const fits = EDGES_MS.findIndex((edge) => cpu <= edge);
    const place = fits === -1 ? EDGES_MS.length : fits;
    counts[place] = (counts[place] ?? 0) + 1;
    if (wall > LONG_MS && cpu > LONG_MS && slices.length < MOST) slices.push({ at: last, wall, cpu, gc: 0, where: [] });
    last = now;
    worked = total;
  }, EVERY_MS).unref();

  const gcWithin = ({ at, wall }: Slice): number =>
    collections
      .filter(({ startTime }) => startTime >= at && startTime <= at + wall)
      .reduce((sum, { duration }) => sum + duration, 0);
  process.on('SIGUSR2', () => {
    for (const slice of slices) slice.gc = Math.min(slice.cpu, gcWithin(slice));
    profiler?.name(slices);
    const longestGc = Math.max(0, ...collections.map(({ duration }) => duration));
    const ms = (ns: number): number => Math.max(0, ns / 1e6 - EVERY_MS);
    const report: LoopReport = {
      p50: ms(delay.percentile(50)),
      p99: ms(delay.percentile(99)),
      max: ms(delay.max),
      longestGc,
      counts,
      slices,
    };
    writeFileSync(`${file}.new`, JSON.stringify(report));
    renameSync(`${file}.new`, file);
    slices = [];
    counts = none();
    collections = [];
    delay.reset();
    last = performance.now();
    worked = threadMs();
  });
}

const file = process.env['LOOP_REPORT'];
if (isMainThread && file !== undefined) watch(file);
