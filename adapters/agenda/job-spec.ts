import { toIsoString } from '../../lib/time.js';
import type { JobInfo, JobSpec } from '../../ports/jobs.js';
import type { JobDoc } from './job-document.js';

const MAX_INTERVAL_MS = 2 ** 31 - 1;
const JOB_NAME_PATTERN = /^[a-z][a-z0-9_.-]{0,99}$/;

export const getRepeatInterval = (spec: JobSpec): number | string | undefined => spec.everyMs ?? spec.cron;

/**
 * @param next throws on an invalid cron expression
 * @throws TypeError that names the job
 */
export function validateJobSpec({ name, everyMs, cron, timeoutMs }: JobSpec, next: (cron: string) => unknown): void {
  const refuse = (problem: string): never => {
    throw new TypeError(`job ${name}: ${problem}`);
  };
  const ms = (value: number): boolean => Number.isInteger(value) && value > 0 && value <= MAX_INTERVAL_MS;
  if (!JOB_NAME_PATTERN.test(name))
    refuse('the name must be lower case letters, digits, dots, hyphens and underscores');
  if (everyMs !== undefined && cron !== undefined) refuse('has both everyMs and cron');
  if (everyMs !== undefined && !ms(everyMs)) refuse('everyMs must be a positive number of milliseconds');
  if (timeoutMs !== undefined && !ms(timeoutMs)) refuse('timeoutMs must be a positive number of milliseconds');
  if (cron === undefined) return;
  if (cron.trim().split(/\s+/).length !== 5) refuse('cron must have five fields');
  try {
    next(cron);
  } catch (error) {
    refuse(`cron is not valid: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * @param docs of all jobs
 * @param now RFC 3339
 */
export function describeJob(spec: JobSpec, docs: readonly JobDoc[], now: string): JobInfo {
  const own = docs.filter(({ name }) => name === spec.name);
  const named = own.find(({ id }) => id === spec.name);
  const locked = own.filter(({ lock, due_at }) => lock !== undefined && (due_at ?? '') > now);
  const waiting = own.find(({ lock, due_at }) => lock === undefined && due_at !== undefined);
  const retried = own.find(({ id, fail_reason }) => id !== spec.name && typeof fail_reason === 'string');
  const lastRuns = own.flatMap(({ last_run_at }) => last_run_at ?? []).toSorted();
  return {
    name: spec.name,
    every_ms: spec.everyMs ?? null,
    cron: spec.cron ?? null,
    running: locked.length > 0,
    last_run_at: lastRuns.at(-1) ?? null,
    last_finished_at: named?.last_finished_at ?? null,
    next_run_at: waiting?.due_at ?? getNextRunTime(spec, named),
    fail_count: retried?.fail_count ?? named?.fail_count ?? 0,
    fail_reason: retried?.fail_reason ?? named?.fail_reason ?? null,
  };
}

/** The interval of a running job counts from the start of the run. */
function getNextRunTime({ everyMs }: JobSpec, running: JobDoc | undefined): string | null {
  const started = Date.parse((running?.lock !== undefined && running.last_run_at) || '');
  return everyMs === undefined || Number.isNaN(started) ? null : toIsoString(started + everyMs);
}
