/**
 * Background work (ports/jobs.ts) on Agenda, stored in the DocumentStore.
 *
 * Agenda polls, limits what runs at once and computes when a job comes next; the locks are repository.ts's. A poll every
 * two seconds finds what other processes stored; what this process stores is taken at once. A run has its job's time
 * limit: then its signal aborts, a second later its lock ends and another process may take the job, so a run that
 * ignores its signal is counted as failed before that. Work is at least once: a job whose process dies runs again.
 * Rejected: Agenda's MongoDB backend (a second engine would behave differently), and intervals in words.
 */
import { Agenda, InMemoryNotificationChannel, Job, toJobId, type JobDefinition, type JobParameters } from 'agenda';
import { ServiceError } from '../../kernel/errors.js';
import { RepeatedLines } from '../../lib/text/repeated-lines.js';
import { isStoreFault } from '../../lib/store-fault.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { EnqueueOptions, JobInfo, Jobs, JobSpec } from '../../ports/jobs.js';
import type { Logger } from '../../ports/logger.js';
import type { Counter, Metrics } from '../../ports/metrics.js';
import type { DocumentStore, Json } from '../../ports/store.js';
import type { JobDoc, Payload } from './job-document.js';
import { FaultLines } from './fault-lines.js';
import { StoreJobRepository } from './repository.js';

export { JOBS_COLLECTION } from './job-document.js';

export interface AgendaJobsOptions {
  /** Default 2,000. */
  pollMs?: number;
  /** Enqueued jobs of one name that run at once in this process. Default 5. */
  concurrency?: number;
  /** All jobs that run at once in this process. Default 20. */
  maxConcurrency?: number;
  /** From the end of a job's time to the end of its lock. Default 1,000. */
  marginMs?: number;
  /** First delay of a retry; it doubles each time, up to an hour. Default 1,000. */
  retryBaseMs?: number;
}

export interface AgendaJobsPorts {
  store: DocumentStore;
  clock: Clock;
  ids: Ids;
  log: Logger;
  metrics: Metrics;
  /** What was told of the store's faults, shared with the other parts that tell of them. */
  faults?: RepeatedLines;
}

type Define = (
  name: string,
  run: (job: Job<Payload>) => Promise<void>,
  options: Pick<JobDefinition, 'concurrency' | 'lockLimit' | 'backoff'>,
) => void;

const RESULTS = ['ok', 'error'];
const TIMEOUT_MS = 60_000;
const MAX_MS = 2 ** 31 - 1;
const MAX_RETRY_MS = 3_600_000;
const NAME = /^[a-z][a-z0-9_.-]{0,99}$/;

const STOPPING = new Error('the service is stopping');

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

export class AgendaJobs implements Jobs {
  private readonly specs = new Map<string, JobSpec>();
  private readonly repository: StoreJobRepository;
  private readonly channel = new InMemoryNotificationChannel();
  private readonly agenda: Agenda;
  private readonly log: Logger;
  private readonly faults: FaultLines;
  private readonly clock: Clock;
  private readonly aborts = new Set<AbortController>();
  private readonly errors = new WeakMap<object, Error>();
  private readonly nudged = new Set<string>();
  private readonly runs: Counter;
  private readonly options: Required<AgendaJobsOptions>;
  private started = false;
  /** The drain ran out of time: what fails from here on is not the job's fault. */
  private interrupted = false;

  constructor(ports: AgendaJobsPorts, options: AgendaJobsOptions = {}) {
    this.options = {
      pollMs: 2_000,
      concurrency: 5,
      maxConcurrency: 20,
      marginMs: 1_000,
      retryBaseMs: 1_000,
      ...options,
    };
    this.log = ports.log;
    this.clock = ports.clock;
    this.faults = new FaultLines(
      ports.log,
      ports.faults ?? new RepeatedLines(() => ports.clock.monotonic()),
      ports.clock,
    );
    this.runs = ports.metrics.counter('aos_job_runs_total', 'Runs of background jobs, by job and result', {
      job: [],
      result: RESULTS,
    });
    for (const result of RESULTS) this.runs.inc({ job: 'engine', result }, 0);
    ports.metrics.gauge('aos_job_queue_age_seconds', 'How long the longest waiting of the due jobs has been due', () =>
      this.repository.queueAge(),
    );
    const lease = (name: string): number | undefined => {
      const spec = this.specs.get(name);
      return spec && (spec.timeoutMs ?? TIMEOUT_MS) + this.options.marginMs;
    };
    const { store, clock, ids } = ports;
    this.repository = new StoreJobRepository(store, clock, ids, this.faults, lease, () => [...this.specs.keys()]);
    this.agenda = new Agenda({
      backend: {
        name: 'DocumentStore',
        repository: this.repository,
        notificationChannel: this.channel,
        ownsConnection: false,
        connect: () => Promise.resolve(),
        disconnect: () => Promise.resolve(),
      },
      processEvery: this.options.pollMs,
      maxConcurrency: this.options.maxConcurrency,
      // Agenda looks after its runs twice in this time; its own limit never strikes (repository.ts, FAR).
      defaultLockLifetime: this.options.pollMs,
    });
    this.agenda.on('error', (error: Error) => {
      this.runs.inc({ job: 'engine', result: 'error' });
      this.faults.tell('jobs: an error outside of any job', error);
    });
    // A place is free: whatever waits need not wait for the next poll.
    this.agenda.on('complete', (job: Job) => this.nudge(job.attrs.name));
  }

  define(spec: JobSpec): void {
    if (this.started) throw new TypeError(`job ${spec.name}: jobs are defined before start`);
    this.check(spec);
    this.specs.set(spec.name, spec);
    for (const result of RESULTS) this.runs.inc({ job: spec.name, result }, 0);
    const { concurrency } = this.options;
    const limit = repeatOf(spec) === undefined ? concurrency : 1;
    // Of Agenda's two kinds of definition the one with a promise; overloads would choose the one with a callback.
    const define: Define = this.agenda.define.bind(this.agenda);
    define(spec.name, (job) => this.execute(spec, job), {
      concurrency: limit,
      // Locking no more than can run at once leaves the rest to other processes.
      lockLimit: limit,
      backoff: ({ attempt, jobData }) => this.retryDelay(attempt, jobData as Payload),
    });
  }

  private check(spec: JobSpec): void {
    const { name, everyMs, cron, timeoutMs } = spec;
    const refuse = (problem: string): never => {
      throw new TypeError(`job ${name}: ${problem}`);
    };
    const ms = (value: number): boolean => Number.isInteger(value) && value > 0 && value <= MAX_MS;
    if (!NAME.test(name)) refuse('the name must be lower case letters, digits, dots, hyphens and underscores');
    if (this.specs.has(name)) refuse('is defined twice');
    if (everyMs !== undefined && cron !== undefined) refuse('has both everyMs and cron');
    if (everyMs !== undefined && !ms(everyMs)) refuse('everyMs must be a positive number of milliseconds');
    if (timeoutMs !== undefined && !ms(timeoutMs)) refuse('timeoutMs must be a positive number of milliseconds');
    if (cron === undefined) return;
    if (cron.trim().split(/\s+/).length !== 5) refuse('cron must have five fields');
    try {
      this.nextAt(cron);
    } catch (error) {
      refuse(`cron cannot be read: ${asError(error).message}`);
    }
  }

  /** When a repeating job runs for the first time: at once, or at the next time that its cron expression names. */
  private nextAt(repeat: number | string): string {
    if (typeof repeat === 'number') return this.clock.iso();
    const probe = new Job(this.agenda, { name: 'probe', priority: 0, type: 'single', nextRunAt: null, data: null });
    const { nextRunAt, failReason } = probe.repeatEvery(repeat, { timezone: 'UTC' }).attrs;
    if (!nextRunAt) throw new Error(failReason ?? 'it names no time');
    return nextRunAt.toISOString();
  }

  async start(): Promise<void> {
    this.started = true;
    for (const spec of this.specs.values()) {
      const repeat = repeatOf(spec);
      if (repeat === undefined) continue;
      const first = this.nextAt(repeat);
      const latest = typeof repeat === 'number' ? new Date(this.clock.now() + repeat).toISOString() : first;
      await this.repository.schedule(spec.name, repeat, first, latest);
    }
    await this.agenda.start();
  }

  async enqueue(name: string, data: unknown = null, options: EnqueueOptions = {}): Promise<void> {
    const spec = this.spec(name);
    const time = options.at === undefined ? this.clock.now() : Date.parse(options.at);
    if (Number.isNaN(time)) throw new TypeError(`job ${name}: "at" is no time`);
    const at = new Date(time).toISOString();
    if (repeatOf(spec) === undefined) {
      await this.repository.add(name, data as Json, at, options.key, options.retry ?? 0);
    } else {
      if (data !== null) throw new TypeError(`job ${name} repeats and takes no data`);
      await this.repository.bringForward(name, at);
    }
    this.nudge(name, time - this.clock.now());
  }

  async runNow(name: string, data: unknown = null): Promise<boolean> {
    const spec = this.spec(name);
    if (this.repository.stopping) {
      throw new ServiceError('not_ready', 'The service is stopping.', { headers: { 'retry-after': '5' } });
    }
    const locked = await this.repository.lockNamed(name, repeatOf(spec), data as Json);
    if (!locked) return false;
    const job = new Job(this.agenda, locked as JobParameters<void>, true);
    await job.run();
    const error = this.errors.get(job);
    if (error) throw error;
    return true;
  }

  async list(): Promise<JobInfo[]> {
    const docs = await this.repository.look([...this.specs.keys()]);
    const now = this.clock.iso();
    return [...this.specs.values()].map((spec) => describe(spec, docs, now));
  }

  async drain(timeoutMs = 10_000): Promise<void> {
    this.repository.stopping = true;
    if (this.started) await this.agenda.stop(false);
    // A lock that came in during this turn is now in Agenda's queue, which no longer runs.
    await new Promise((resolve) => setImmediate(resolve));
    await this.repository.releaseUnstarted();
    const grace = Math.min(1_000, timeoutMs / 5);
    if (await this.idleWithin(timeoutMs - grace)) return;
    this.interrupted = true;
    for (const controller of this.aborts) controller.abort(STOPPING);
    if (await this.idleWithin(grace)) return;
    this.log.warn({ running: this.repository.held.size }, 'jobs: some are still running at the end of the drain');
  }

  private async idleWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
    const idle = await Promise.race([this.repository.whenIdle().then(() => true), late]);
    clearTimeout(timer);
    return idle;
  }

  private spec(name: string): JobSpec {
    const spec = this.specs.get(name);
    if (!spec) throw new TypeError(`no job is named ${name}`);
    return spec;
  }

  private retryDelay(attempt: number, { retry }: Payload): number | null {
    if (attempt > retry) return null;
    return Math.min(MAX_RETRY_MS, this.options.retryBaseMs * 2 ** (attempt - 1));
  }

  /** One run, within its time. Agenda records what it throws. */
  private async execute(spec: JobSpec, job: Job<Payload>): Promise<void> {
    const payload: Payload = job.attrs.data;
    const { data } = payload;
    if (this.interrupted) {
      payload.interrupted = true;
      throw STOPPING;
    }
    const limit = spec.timeoutMs ?? TIMEOUT_MS;
    const controller = new AbortController();
    this.aborts.add(controller);
    let end: NodeJS.Timeout | undefined;
    const abort = setTimeout(() => controller.abort(new Error(`job ${spec.name} took longer than ${limit} ms`)), limit);
    const overdue = new Promise<never>((_resolve, reject) => {
      const text = `job ${spec.name} ignored the end of its ${limit} ms`;
      end = setTimeout(() => reject(new Error(text)), limit + this.options.marginMs / 2);
    });
    try {
      await Promise.race([Promise.resolve().then(() => spec.run({ data, signal: controller.signal })), overdue]);
      this.runs.inc({ job: spec.name, result: 'ok' });
    } catch (error) {
      this.errors.set(job, asError(error));
      if (this.interrupted) {
        payload.interrupted = true;
        throw asError(error);
      }
      this.runs.inc({ job: spec.name, result: 'error' });
      const failures = (job.attrs.failCount ?? 0) + 1;
      const line = { job_id: String(job.attrs._id), failures };
      if (isStoreFault(error)) this.faults.tell('a job failed', error, { job: spec.name }, line);
      else this.log.error({ job: spec.name, ...line, err: error }, 'a job failed');
      throw asError(error);
    } finally {
      clearTimeout(abort);
      clearTimeout(end);
      this.aborts.delete(controller);
    }
  }

  /** Makes Agenda look for jobs of this name now, or when `inMs` have passed; further ahead the poll will find them. */
  private nudge(name: string, inMs = 0): void {
    if (inMs > this.options.pollMs) return;
    if (inMs > 0) {
      setTimeout(() => this.nudge(name), inMs).unref();
      return;
    }
    if (this.nudged.has(name)) return;
    this.nudged.add(name);
    setImmediate(() => {
      this.nudged.delete(name);
      if (!this.started || this.repository.stopping || this.channel.state !== 'connected') return;
      const note = { jobId: toJobId(name), jobName: name, nextRunAt: null, priority: 0, timestamp: new Date() };
      this.channel.publish(note).catch((error: unknown) => this.faults.tell('jobs: a nudge failed', error));
    });
  }
}

const repeatOf = (spec: JobSpec): number | string | undefined => spec.everyMs ?? spec.cron;

function describe(spec: JobSpec, docs: readonly JobDoc[], now: string): JobInfo {
  const own = docs.filter(({ name }) => name === spec.name);
  const named = own.find(({ id }) => id === spec.name);
  const locked = own.filter(({ lock, due_at }) => lock !== undefined && (due_at ?? '') > now);
  const waiting = own.find(({ lock, due_at }) => lock === undefined && due_at !== undefined);
  const lastRuns = own.flatMap(({ last_run_at }) => last_run_at ?? []).toSorted();
  return {
    name: spec.name,
    every_ms: spec.everyMs ?? null,
    cron: spec.cron ?? null,
    running: locked.length > 0,
    last_run_at: lastRuns.at(-1) ?? null,
    last_finished_at: named?.last_finished_at ?? null,
    next_run_at: waiting?.next_run_at ?? (repeatOf(spec) === undefined ? null : (named?.next_run_at ?? null)),
    fail_count: named?.fail_count ?? 0,
    fail_reason: named?.fail_reason ?? null,
  };
}
