/**
 * Background work, never overlapping across processes, over the DocumentStore (contract suite:
 * test/kit/contracts/jobs.ts).
 */
export interface JobSpec {
  /** `<plugin>.<job>`; the kernel adds the plugin's id. */
  name: string;
  /** Milliseconds between runs, for a repeating job. */
  everyMs?: number;
  /** A five-field cron expression in UTC, for a repeating job. */
  cron?: string;
  /** After this long the run's signal aborts and its lock may pass to another process. Default 60,000. */
  timeoutMs?: number;
  /** It deletes what is older than some time: left out while the clock is not believed (decision 050). */
  removesByAge?: boolean;
  run(job: JobRun): Promise<void>;
}

export interface JobRun {
  data: unknown;
  /** Aborts when the time limit of the job has passed, or the service stops. */
  signal: AbortSignal;
  /** 1 for the first attempt, 2 for the first retry. */
  attempt: number;
  /** Whether a failure of this attempt is final. */
  lastAttempt: boolean;
}

export interface EnqueueOptions {
  /** Not before; RFC 3339. */
  at?: string;
  /** At most one waiting job of this name and key. */
  key?: string;
  /** How often a failed run is tried again: after 1, 2, 4, … seconds, at most an hour apart. Default 0. */
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
  /** Before `start`. */
  define(spec: JobSpec): void;
  start(): Promise<void>;
  /** Of a plugin that failed: it is not run any more, and what waits for it stays. */
  retire(name: string): void;
  enqueue(name: string, data?: unknown, options?: EnqueueOptions): Promise<void>;
  /** Runs a defined job here and now, under the same lock. False when it is running elsewhere. */
  runNow(name: string, data?: unknown): Promise<boolean>;
  list(): Promise<JobInfo[]>;
  /** Takes no new job and waits for those under way, at most `timeoutMs`. */
  drain(timeoutMs?: number): Promise<void>;
}
