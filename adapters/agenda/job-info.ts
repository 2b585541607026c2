/** What is told of a job (ports/jobs.ts, `list`), from the documents that it has. */
import { isoOf } from '../../lib/time.js';
import type { JobInfo, JobSpec } from '../../ports/jobs.js';
import type { JobDoc } from './job-document.js';

/** @param now RFC 3339 */
export function describe(spec: JobSpec, docs: readonly JobDoc[], now: string): JobInfo {
  const own = docs.filter(({ name }) => name === spec.name);
  const named = own.find(({ id }) => id === spec.name);
  const locked = own.filter(({ lock, due_at }) => lock !== undefined && (due_at ?? '') > now);
  const waiting = own.find(({ lock, due_at }) => lock === undefined && due_at !== undefined);
  // Its last attempt failed, and another one follows.
  const retried = own.find(({ id, fail_reason }) => id !== spec.name && typeof fail_reason === 'string');
  const lastRuns = own.flatMap(({ last_run_at }) => last_run_at ?? []).toSorted();
  return {
    name: spec.name,
    every_ms: spec.everyMs ?? null,
    cron: spec.cron ?? null,
    running: locked.length > 0,
    last_run_at: lastRuns.at(-1) ?? null,
    last_finished_at: named?.last_finished_at ?? null,
    next_run_at: waiting?.next_run_at ?? nextOf(spec, named),
    fail_count: retried?.fail_count ?? named?.fail_count ?? 0,
    fail_reason: retried?.fail_reason ?? named?.fail_reason ?? null,
  };
}

/** Of a repeating job that runs: its interval counts from the beginning of the run, and what it waited for is past. */
function nextOf({ everyMs, cron }: JobSpec, named: JobDoc | undefined): string | null {
  if (named?.lock === undefined)
    return everyMs === undefined && cron === undefined ? null : (named?.next_run_at ?? null);
  const began = Date.parse(named.last_run_at ?? '');
  return everyMs === undefined || Number.isNaN(began) ? null : isoOf(began + everyMs);
}
