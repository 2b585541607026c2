import type { Job } from 'agenda';
import type { JobSpec } from '../../ports/jobs.js';
import type { Logger } from '../../ports/logger.js';
import type { Counter } from '../../ports/metrics.js';
import { isStoreFault } from '../../lib/store-fault.js';
import type { JobPayload } from './job-document.js';
import { EventLoopMonitor } from './event-loop-monitor.js';
import type { LockKey } from './repository.js';

export const DEFAULT_TIMEOUT_MS = 60_000;

const STOPPING_ERROR = new Error('the service is stopping');

/** A repeating job starts again with its next run, so each failure is final. */
function countAttempt({ attrs }: Job<JobPayload>): { attempt: number; lastAttempt: boolean } {
  const { retry }: JobPayload = attrs.data;
  const attempt = (attrs.failCount ?? 0) + 1;
  return { attempt, lastAttempt: attempt > retry };
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

export class JobRunner {
  /** Errors of runs, of which Agenda stores only the message. */
  readonly errors = new WeakMap<object, Error>();
  readonly #aborts = new Set<AbortController>();
  readonly #blocking = new EventLoopMonitor((jobs, ms) =>
    this.log.warn({ jobs, ms }, `the event loop was blocked for ${ms} ms while ${jobs.join(', ')} ran`),
  );
  /** The drain timed out: later failures are not the job's fault. */
  #interrupted = false;

  /**
   * @param times `marginMs`: from a job's time limit to the end of its lock
   * @param renew false when another process has the lock
   */
  constructor(
    private readonly counter: Counter,
    private readonly log: Logger,
    private readonly times: { marginMs: number; lockMs: number },
    private readonly renew: (lock: LockKey) => Promise<boolean>,
  ) {}

  interrupt(): void {
    this.#interrupted = true;
    for (const controller of this.#aborts) controller.abort(STOPPING_ERROR);
  }

  /** @throws errors of the job */
  async run(spec: JobSpec, job: Job<JobPayload>): Promise<void> {
    const payload: JobPayload = job.attrs.data;
    if (this.#interrupted) {
      payload.interrupted = true;
      throw STOPPING_ERROR;
    }
    try {
      await this.#runWithinLimits(spec, job);
      this.counter.inc({ job: spec.name, result: 'ok' });
    } catch (error) {
      this.errors.set(job, toError(error));
      if (this.#interrupted) payload.interrupted = true;
      else this.#report(spec, job, error);
      throw toError(error);
    }
  }

  #report(spec: JobSpec, job: Job<JobPayload>, error: unknown): void {
    this.counter.inc({ job: spec.name, result: 'error' });
    const { attempt, lastAttempt } = countAttempt(job);
    const line = { job: spec.name, job_id: String(job.attrs._id), failures: attempt };
    if (lastAttempt || isStoreFault(error)) this.log.error({ ...line, err: error }, 'a job failed');
    else this.log.warn({ ...line, reason: toError(error).message }, 'a job failed and will be retried');
  }

  /** A run that lost its lock, for example after a process pause, is aborted. */
  async #runWithinLimits(spec: JobSpec, job: Job<JobPayload>): Promise<void> {
    const { attrs } = job;
    const { data, token }: JobPayload = attrs.data;
    const limit = spec.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const controller = new AbortController();
    this.#aborts.add(controller);
    let end: NodeJS.Timeout | undefined;
    const abort = setTimeout(() => controller.abort(new Error(`job ${spec.name} took longer than ${limit} ms`)), limit);
    const overdue = new Promise<never>((_resolve, reject) => {
      const text = `job ${spec.name} did not stop at its timeout of ${limit} ms`;
      end = setTimeout(() => reject(new Error(text)), limit + this.times.marginMs / 2);
    });
    const lock = { id: String(attrs._id), token };
    const renewing = setInterval(() => void this.#renew(spec, lock, controller), this.times.lockMs / 3);
    const run = { data, signal: controller.signal, ...countAttempt(job) };
    const leave = this.#blocking.trackJob(spec.name);
    try {
      await Promise.race([Promise.resolve().then(() => spec.run(run)), overdue]);
    } finally {
      leave();
      clearTimeout(abort);
      clearTimeout(end);
      clearInterval(renewing);
      this.#aborts.delete(controller);
    }
  }

  async #renew({ name }: JobSpec, lock: LockKey, run: AbortController): Promise<void> {
    try {
      if (await this.renew(lock)) return;
      run.abort(new Error(`the lock of job ${name} was lost to another process`));
    } catch (error) {
      this.log.error({ err: error, job: name }, 'the lock of a job could not be extended');
    }
  }
}
