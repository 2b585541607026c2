/**
 * Engines and instances for the contract suite of jobs (testing/contracts/jobs.ts) and for adapter
 * tests.
 */
import { JOBS_COLLECTION } from '../../../../adapters/agenda/job-document.js';
import { AgendaJobs, type AgendaJobsOptions } from '../../../../adapters/agenda/jobs.js';
import { RandomIds } from '../../../../adapters/node/ids.js';
import { SystemClock } from '../../../../adapters/node/clock.js';
import { PrometheusMetrics } from '../../../../adapters/node/metrics.js';
import type { JobRun, JobSpec } from '../../../../ports/jobs.js';
import type { Logger } from '../../../../ports/logger.js';
import type { DocumentStore } from '../../../../ports/store/index.js';

export interface CountedRun {
  id: string;
  n: number;
  pid: number;
}

/**
 * A process that runs `test.count` (writes a CountedRun), `test.hang` and `test.long` (write one
 * and never end).
 */
export interface Runner {
  pid: number;
  kill(): Promise<void>;
}

export interface JobsEngine {
  /** Opens a fresh store with `kernel_jobs` and `runs`. */
  open(): Promise<DocumentStore>;
  /** Starts another process on the last opened store; null if not possible. */
  runner: ((options?: AgendaJobsOptions) => Promise<Runner>) | null;
  close(): Promise<void>;
}

export const RUNS_COLLECTION = { name: 'runs', indexes: [] };
export const JOBS_COLLECTIONS = [JOBS_COLLECTION, RUNS_COLLECTION];
export const FAST_OPTIONS: AgendaJobsOptions = { pollMs: 50, marginMs: 200, retryBaseMs: 20 };
/** Other processes take over jobs after this time. Use it only in tests that wait for that. */
export const SHORT_LOCK_OPTIONS: AgendaJobsOptions = { lockMs: 6_000 };

/** Waits until `read` returns a value. */
export async function waitUntil<T>(
  what: string,
  read: () => Promise<T | null | undefined | false>,
  timeoutMs = 60_000,
): Promise<T> {
  const began = Date.now();
  for (;;) {
    const value = await read();
    if (value) return value;
    const waited = Date.now() - began;
    if (waited > timeoutMs) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(100, Math.max(10, waited / 20))));
  }
}

interface RecordedLogLine {
  data: Record<string, unknown>;
  message: string;
}

class MemoryLog implements Logger {
  constructor(readonly lines: RecordedLogLine[] = []) {}
  debug(data: object, message: string): void {
    this.lines.push({ data: { ...data }, message });
  }
  info = this.debug.bind(this);
  warn = this.debug.bind(this);
  error = this.debug.bind(this);
  child(): Logger {
    return this;
  }
}

export function createJobs(
  store: DocumentStore,
  specs: readonly JobSpec[],
  options: AgendaJobsOptions = {},
): { jobs: AgendaJobs; lines: RecordedLogLine[]; metrics: PrometheusMetrics } {
  const log = new MemoryLog();
  const clock = new SystemClock();
  const metrics = new PrometheusMetrics();
  const jobs = new AgendaJobs(
    { store, clock, ids: new RandomIds(clock), log, metrics },
    { ...FAST_OPTIONS, ...options },
  );
  for (const spec of specs) jobs.define(spec);
  return { jobs, lines: log.lines, metrics };
}

export const createCountJob = (store: DocumentStore): JobSpec => ({
  name: 'test.count',
  async run({ data }: JobRun): Promise<void> {
    const clock = new SystemClock();
    await store
      .collection<CountedRun>('runs')
      .insert({ id: new RandomIds(clock).uuid(), n: Number(data), pid: process.pid });
  },
});

/** The store of one test, with instances that are drained at its end. */
export interface JobsFixture {
  readonly store: DocumentStore;
  make: (specs: readonly JobSpec[], options?: AgendaJobsOptions) => ReturnType<typeof createJobs>;
  keep: (jobs: AgendaJobs) => void;
  runs: () => Promise<CountedRun[]>;
  stored: () => Promise<number>;
}
