/** The stored documents of the ignore rules beside the rule itself (rule.ts). */
import type { Doc } from '../../../kernel/contract.js';

/** The revision that every change of a rule raises. */
export const BOOK_ID = 'rules';
/**
 * The id of the template, shaped like a UUIDv7 of 1 January 2025. It is fixed, so a migration that runs twice makes one
 * rule.
 */
export const TEMPLATE_ID = '01941f29-7c00-7000-8000-000000000001';

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
