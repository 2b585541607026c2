import type { Doc } from '../../../kernel/contract/index.js';

export const REVISION_ID = 'rules';
/** Fixed, shaped like a UUIDv7, so that repeated migrations create one rule. */
export const TEMPLATE_ID = '01941f29-7c00-7000-8000-000000000001';

export interface ApplyResult {
  matched: number;
  muted: number;
  skipped: number;
}

export interface ApplyRunDoc extends Doc, ApplyResult {
  state: 'running' | 'done' | 'failed';
  scanned: number;
  total: number;
  cursor: string | null;
  owner: string;
  started_by: string;
  started_at: string;
  beat_at: string;
  finished_at: string | null;
  problem: string | null;
}

/** Other processes notice rule changes by it. */
export interface RevisionDoc extends Doc {
  rev: number;
}
