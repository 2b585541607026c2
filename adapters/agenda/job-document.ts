/**
 * A repeating job is one document whose id is its name, so that it exists once. An enqueued job is
 * a separate document, removed on completion; the document named like its definition records the
 * last outcome and holds the lock of `runNow`. `due_at` makes polling one index lookup: it is the
 * run time of a waiting job and the lock expiry of a running one.
 */
import type { CollectionSpec, Json } from '../../ports/store/index.js';

export interface JobDoc {
  id: string;
  name: string;
  repeat?: number | string;
  data?: Json;
  retry?: number;
  /** `<name>:<key>` while it waits: unique among waiting jobs. */
  key?: string;
  /** The same key while the job runs, for a retry. */
  wanted_key?: string;
  due_at?: string;
  /** How far `due_at` was in the future when written, in milliseconds (lib/clock-skew.ts). */
  ahead_ms?: number;
  lock?: string;
  owner?: string;
  /** Due time of a run requested during this one. */
  wanted_at?: string;
  last_run_at?: string | null;
  last_finished_at?: string | null;
  fail_count?: number;
  fail_reason?: string | null;
}

export const JOBS_COLLECTION: CollectionSpec = {
  name: 'kernel_jobs',
  indexes: [{ fields: ['name', 'due_at'] }, { fields: ['due_at'] }, { fields: ['key'], unique: true }],
};

export interface JobPayload {
  data: Json;
  retry: number;
  token: string;
  /**
   * Set when the service stopped during the run: the job has not failed and waits for the next
   * process.
   */
  interrupted?: boolean;
}
