/** Background jobs, never overlapping across processes. */
export interface JobSpec {
  name: string;
  /** Milliseconds between runs. */
  everyMs?: number;
  /** Five-field cron expression in UTC. */
  cron?: string;
  /** Milliseconds until the run's signal aborts and its lock may pass on. */
  timeoutMs?: number;
  /** Deletes by age: skipped while the clock is not trusted (decision 050). */
  removesByAge?: boolean;
  run(job: JobRun): Promise<void>;
}

export interface JobRun {
  data: unknown;
  /** Aborts at the time limit or when the service stops. */
  signal: AbortSignal;
  attempt: number;
  lastAttempt: boolean;
}

export interface EnqueueOptions {
  /** Earliest start, RFC 3339. */
  at?: string;
  /** Deduplicates waiting jobs. */
  key?: string;
  /** Retries after 1, 2, 4, … seconds, at most an hour. Default 0. */
  retry?: number;
}

export interface JobInfo {
  name: string;
  every_ms: number | null;
  cron: string | null;
  running: boolean;
  last_run_at: string | null;
  last_finished_at: string | null;
  next_run_at: string | null;
  fail_count: number;
  fail_reason: string | null;
}

export interface Jobs {
  /** Registers a job, before `start`. */
  define(spec: JobSpec): void;
  start(): Promise<void>;
  /** Stops a failed plugin's job; waiting entries remain. */
  retire(name: string): void;
  enqueue(name: string, data?: unknown, options?: EnqueueOptions): Promise<void>;
  /**
   * Runs under the job's lock.
   * @returns false when it is running elsewhere
   */
  runNow(name: string, data?: unknown): Promise<boolean>;
  list(): Promise<JobInfo[]>;
  /** Stops taking jobs and waits for running ones. */
  drain(timeoutMs?: number): Promise<void>;
}
