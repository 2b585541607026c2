/**
 * Jobs stored by this process run immediately; polling finds those of others. Locks are short and
 * renewed while the run lasts, so that a crash frees every job within a minute. Jobs run at least
 * once.
 */
import { createRequire } from 'node:module';
import {
  Agenda,
  InMemoryNotificationChannel,
  Job,
  toJobId,
  type JobDefinition,
  type JobParameters,
  type JobRepository,
} from 'agenda';
import { Settings } from 'luxon';
import { ServiceError } from '../../kernel/errors.js';
import type { RepeatedLineLimiter } from '../../lib/text/repeated-line-limiter.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { EnqueueOptions, JobInfo, Jobs, JobSpec } from '../../ports/jobs.js';
import type { Logger } from '../../ports/logger.js';
import type { Counter, Metrics } from '../../ports/metrics.js';
import type { DocumentStore, Json } from '../../ports/store/index.js';
import type { JobPayload } from './job-document.js';
import { JobRunner, DEFAULT_TIMEOUT_MS } from './job-runner.js';
import { validateJobSpec, describeJob, getRepeatInterval } from './job-spec.js';
import { StoreJobRepository } from './repository.js';

/**
 * Without a locale, Luxon makes Node load 7 MB of language data. The cron parser loads the copy for
 * CommonJS.
 */
const commonLuxon = createRequire(import.meta.url)('luxon') as { Settings: typeof Settings };
for (const settings of [Settings, commonLuxon.Settings]) settings.defaultLocale = 'en-US';

export { JOBS_COLLECTION } from './job-document.js';

export interface AgendaJobsOptions {
  /** Default 4,000. */
  pollMs?: number;
  /** Concurrent enqueued jobs of one name in this process. Default 5. */
  concurrency?: number;
  /** Concurrent jobs in this process. Default 20. */
  maxConcurrency?: number;
  /** From a job's time limit to the end of its lock. Default 1,000. */
  marginMs?: number;
  /** Maximum lifetime of a lock; it is renewed three times within it. Default 45,000. */
  lockMs?: number;
  /** First retry delay, doubled each time up to an hour. Default 1,000. */
  retryBaseMs?: number;
}

export interface AgendaJobsDependencies {
  store: DocumentStore;
  clock: Clock;
  ids: Ids;
  log: Logger;
  metrics: Metrics;
  faults?: RepeatedLineLimiter;
}

type DefineJob = (
  name: string,
  run: (job: Job<JobPayload>) => Promise<void>,
  options: Pick<JobDefinition, 'concurrency' | 'lockLimit' | 'backoff'>,
) => void;

const RESULT_LABELS = ['ok', 'error'];
const MAX_RETRY_DELAY_MS = 3_600_000;

export class AgendaJobs implements Jobs {
  private readonly specs = new Map<string, JobSpec>();
  private readonly repository: StoreJobRepository;
  private readonly channel = new InMemoryNotificationChannel();
  private readonly agenda: Agenda;
  private readonly log: Logger;
  private readonly clock: Clock;
  private readonly work: JobRunner;
  private readonly pollsRequested = new Set<string>();
  private readonly runs: Counter;
  private readonly options: Required<AgendaJobsOptions>;
  private started = false;

  constructor(ports: AgendaJobsDependencies, options: AgendaJobsOptions = {}) {
    this.options = {
      pollMs: 4_000,
      concurrency: 5,
      maxConcurrency: 20,
      marginMs: 1_000,
      lockMs: 45_000,
      retryBaseMs: 1_000,
      ...options,
    };
    this.log = ports.log;
    this.clock = ports.clock;
    this.runs = ports.metrics.counter('aos_job_runs_total', 'Runs of background jobs, by job and result', {
      job: [],
      result: RESULT_LABELS,
    });
    this.work = new JobRunner(this.runs, ports.log, this.options, (lock) => this.repository.renew(lock));
    for (const result of RESULT_LABELS) this.runs.inc({ job: 'engine', result }, 0);
    ports.metrics.gauge('aos_job_queue_age_seconds', 'Time since the oldest waiting job became due', () =>
      this.repository.rows.getQueueAgeSeconds(),
    );
    const lease = (name: string): number | undefined => {
      const spec = this.specs.get(name);
      return spec && Math.min((spec.timeoutMs ?? DEFAULT_TIMEOUT_MS) + this.options.marginMs, this.options.lockMs);
    };
    this.repository = new StoreJobRepository({
      ...ports,
      leaseMs: lease,
      lockMs: this.options.lockMs,
      names: () => [...this.specs.keys()],
      next: (cron) => this.getNextCronTime(cron),
    });
    this.agenda = new Agenda({
      backend: {
        name: 'DocumentStore',
        repository: this.repository as Partial<JobRepository> as JobRepository,
        notificationChannel: this.channel,
        ownsConnection: false,
        connect: () => Promise.resolve(),
        disconnect: () => Promise.resolve(),
      },
      processEvery: this.options.pollMs,
      maxConcurrency: this.options.maxConcurrency,
      // Interval of Agenda's checks of its runs; its own limit never applies (see `FAR_FUTURE` in
      // the repository).
      defaultLockLifetime: this.options.pollMs,
    });
    this.agenda.on('error', (error: Error) => {
      this.runs.inc({ job: 'engine', result: 'error' });
      this.log.error({ err: error }, 'jobs: an error occurred outside any job');
    });
    // A slot is free, so waiting jobs need not wait for the next poll.
    this.agenda.on('complete', ({ attrs: { name } }: Job) => {
      const spec = this.specs.get(name);
      if (spec !== undefined && getRepeatInterval(spec) === undefined) this.pollSoon(name);
    });
  }

  define(spec: JobSpec): void {
    if (this.started) throw new TypeError(`job ${spec.name}: jobs must be defined before start`);
    if (this.specs.has(spec.name)) throw new TypeError(`job ${spec.name} is defined twice`);
    validateJobSpec(spec, (cron) => this.getNextCronTime(cron));
    this.specs.set(spec.name, spec);
    for (const result of RESULT_LABELS) this.runs.inc({ job: spec.name, result }, 0);
    const { concurrency } = this.options;
    const limit = getRepeatInterval(spec) === undefined ? concurrency : 1;
    // Selects the promise form of Agenda's definition; overloads would choose the callback form.
    const define: DefineJob = this.agenda.define.bind(this.agenda);
    define(spec.name, (job) => this.work.run(spec, job), {
      concurrency: limit,
      // Leaves the rest to other processes.
      lockLimit: limit,
      backoff: ({ attempt, jobData }) => this.getRetryDelay(attempt, jobData as JobPayload),
    });
  }

  /** @throws Error on an invalid expression */
  private getNextCronTime(cron: string): string {
    const probe = new Job(this.agenda, { name: 'probe', priority: 0, type: 'single', nextRunAt: null, data: null });
    // Agenda counts from the last run, or else reads the clock itself.
    probe.attrs.lastRunAt = new Date(this.clock.now());
    const { nextRunAt, failReason } = probe.repeatEvery(cron, { timezone: 'UTC' }).attrs;
    if (!nextRunAt) throw new Error(failReason ?? 'it matches no point in time');
    return nextRunAt.toISOString();
  }

  async start(): Promise<void> {
    this.started = true;
    const { rows } = this.repository;
    const stored = await rows.findByNames([...this.specs.keys()]);
    for (const spec of this.specs.values()) {
      const repeat = getRepeatInterval(spec);
      if (repeat !== undefined) await rows.schedule(spec.name, repeat, stored.get(spec.name));
    }
    await this.agenda.start();
  }

  retire(name: string): void {
    this.specs.delete(name);
  }

  async enqueue(name: string, data: unknown = null, options: EnqueueOptions = {}): Promise<void> {
    const spec = this.getSpec(name);
    const time = options.at === undefined ? this.clock.now() : Date.parse(options.at);
    if (Number.isNaN(time)) throw new TypeError(`job ${name}: "at" is not a valid time`);
    const { rows } = this.repository;
    if (getRepeatInterval(spec) === undefined) {
      await rows.add(name, data as Json, rows.dueAt(time), options.key, options.retry ?? 0);
    } else {
      if (data !== null) throw new TypeError(`job ${name} is recurring and cannot have data`);
      await rows.bringForward(name, rows.dueAt(time));
    }
    this.pollSoon(name, time - this.clock.now());
  }

  async runNow(name: string, data: unknown = null): Promise<boolean> {
    const spec = this.getSpec(name);
    if (this.repository.stopping) {
      throw new ServiceError('not_ready', 'The service is stopping.', { headers: { 'retry-after': '5' } });
    }
    const locked = await this.repository.lockNamed(name, getRepeatInterval(spec), data as Json);
    if (!locked) return false;
    const job = new Job(this.agenda, locked as JobParameters<void>, true);
    await job.run();
    const error = this.work.errors.get(job);
    if (error) throw error;
    return true;
  }

  async list(): Promise<JobInfo[]> {
    const docs = await this.repository.rows.list([...this.specs.keys()]);
    const now = this.clock.iso();
    return [...this.specs.values()].map((spec) => describeJob(spec, docs, now));
  }

  async drain(timeoutMs = 10_000): Promise<void> {
    this.repository.stopping = true;
    if (this.started) await this.agenda.stop(false);
    // A lock taken in this turn is now in Agenda's queue, which no longer runs.
    await new Promise((resolve) => setImmediate(resolve));
    await this.repository.releaseUnstarted();
    const grace = Math.min(1_000, timeoutMs / 5);
    if (await this.waitUntilIdle(timeoutMs - grace)) return;
    this.work.interrupt();
    if (await this.waitUntilIdle(grace)) return;
    this.log.warn({ running: this.repository.runningCount }, 'jobs: some were still running when the drain ended');
  }

  private async waitUntilIdle(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
    const idle = await Promise.race([this.repository.waitUntilIdle().then(() => true), late]);
    clearTimeout(timer);
    return idle;
  }

  private getSpec(name: string): JobSpec {
    const spec = this.specs.get(name);
    if (!spec) throw new TypeError(`job ${name} does not exist`);
    return spec;
  }

  private getRetryDelay(attempt: number, { retry }: JobPayload): number | null {
    if (attempt > retry) return null;
    return Math.min(MAX_RETRY_DELAY_MS, this.options.retryBaseMs * 2 ** (attempt - 1));
  }

  /** Unless the regular poll comes first. */
  private pollSoon(name: string, inMs = 0): void {
    if (inMs > this.options.pollMs) return;
    if (inMs > 0) {
      setTimeout(() => this.pollSoon(name), inMs).unref();
      return;
    }
    if (this.pollsRequested.has(name)) return;
    this.pollsRequested.add(name);
    setImmediate(() => {
      this.pollsRequested.delete(name);
      if (!this.started || this.repository.stopping || this.channel.state !== 'connected') return;
      const note = { jobId: toJobId(name), jobName: name, nextRunAt: null, priority: 0, timestamp: new Date() };
      this.channel
        .publish(note)
        .catch((error: unknown) => this.log.error({ err: error }, 'jobs: a wake-up notification failed'));
    });
  }
}
