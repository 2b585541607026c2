/**
 * How a job is stored. A repeating job is one document whose id is its name, so there is never a second one; an
 * enqueued job is a document of its own, removed when it is done. The document named like an enqueued job's definition
 * holds what became of the last one, and the lock of `runNow`.
 *
 * `due_at` answers the one question that is asked all the time, "what may be taken now?", with one index look-up: while
 * a job waits it is when it shall run, while it is locked it is when the lock expires. Rejected: Agenda's own pair of
 * `nextRunAt` and `lockedAt`, which needs an `or` over two ranges for every job name on every poll.
 */
import type { CollectionSpec, Json } from '../../ports/store.js';

export interface JobDoc {
  id: string;
  name: string;
  /** Milliseconds, or a cron expression; absent on enqueued jobs. */
  repeat?: number | string;
  data?: Json;
  retry?: number;
  /** `<name>:<key>` while it waits: at most one such document (unique index). */
  key?: string;
  /** The same, kept while it runs, for a retry. */
  wanted_key?: string;
  due_at?: string;
  /** How far ahead of its writing `due_at` lay, in milliseconds (lib/clock-skew.ts). */
  ahead_ms?: number;
  /** Token of the run that has the lock. */
  lock?: string;
  /** Who has it, for people. */
  owner?: string;
  /** A run that was asked for while this one was under way. */
  wanted_at?: string;
  last_run_at?: string | null;
  last_finished_at?: string | null;
  fail_count?: number;
  fail_reason?: string | null;
}

/** The kernel ensures it before `start` (migrations). */
export const JOBS_COLLECTION: CollectionSpec = {
  name: 'kernel_jobs',
  indexes: [{ fields: ['name', 'due_at'] }, { fields: ['due_at'] }, { fields: ['key'], unique: true }],
};

/** What Agenda carries as a job's data: ours, and the lock that it runs under. */
export interface Payload {
  data: Json;
  retry: number;
  token: string;
  /** Set when the service stopped during the run: the job is not failed, it waits for the next process. */
  interrupted?: boolean;
}
