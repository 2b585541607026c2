/** The stored documents of the ignore rules beside the rule itself (rule.ts). */
import type { Doc } from '../../../kernel/contract.js';

/** The result of applying a rule. */
export interface Applied {
  /** Groups that match. */
  matched: number;
  /** Groups that this run muted. */
  muted: number;
  /** Groups that match and were muted already. */
  skipped: number;
}

/** An apply under way, resumable from its cursor. */
export interface ApplyDoc extends Doc, Applied {
  state: 'running' | 'done' | 'failed';
  /** Groups looked at, and how many there were when it began. */
  scanned: number;
  total: number;
  cursor: string | null;
  /** Names the process that works on it. */
  owner: string;
  started_by: string;
  started_at: string;
  beat_at: string;
  finished_at: string | null;
  problem: string | null;
}

/** Rises with every change of a rule, so that other processes notice. */
export interface RevisionDoc extends Doc {
  rev: number;
}
