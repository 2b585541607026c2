import type { BuildCommits } from '../../../ports/domain/releases.js';
import type { Doc, Json } from '../../../ports/store/index.js';
import type { ItemQuery } from './filters.js';
import type { LinkEnds } from './link-kinds.js';
import type { ItemDoc, SplitKey, TextsDoc } from './model.js';

export interface RekeyingDoc {
  id: string;
  item_id: string;
  ref: string;
  /** Null for a split. */
  into: string | null;
  other: string | null;
  /** Without this entry the change did not happen. */
  entry: string | null;
  actor: string;
  at: string;
}

/** One document for both ends (contract 20, links; links/link-service.ts). */
export interface LinkDoc extends LinkEnds {
  id: string;
  /** Only `made` links count. */
  state: 'asked' | 'made' | 'leaving';
  open_at?: string;
  created_at: string;
  actor: string;
  /** Hash of the lease token of the writer, who needs no notification. */
  lease?: string;
  entries: { from: string; to: string };
}

/** Holds all pending writes of a split in progress (splitting/). */
export interface SplitDoc {
  id: string;
  project: string;
  item_id: string;
  entry: string;
  at: string;
  made: ItemDoc;
  made_texts: TextsDoc;
  left_texts: Pick<TextsDoc, 'error_message' | 'stack_trace'> | null;
  keys: string[];
  parts: { shared: string; part: SplitKey }[];
  /** Used by no remaining report. */
  bare_keys: string[];
  occurrences: { id: string; occurrence_id: string }[];
}

export interface RemovalDoc {
  id: string;
  refs: string[];
  /** Null when all parts are deleted. */
  open_at: string | null;
  /** Until then reports may still name the item; null while the deletion is open. */
  expires_at: string | null;
}

export interface PendingFeedbackDoc {
  id: string;
  project: string;
  event: string;
  body: string;
  expires_at: string;
}

export interface SavedViewDoc {
  id: string;
  name: string;
  owner: string;
  owner_name: string;
  shared: boolean;
  /** Missing: all lists. */
  project?: string | null;
  query: { [field: string]: Json };
  created_at: string;
  updated_at: string;
}

export interface BulkRunDoc {
  id: string;
  query: ItemQuery;
  except: string | null;
  set: { [field: string]: Json | undefined };
  says: {
    /** Wording of the change: `Close`, `closed`. */
    does: string;
    done: string;
    back: string;
  };
  by: { id: string; name: string };
  state: 'running' | 'done' | 'failed';
  /** At the start; the run may process fewer or more. */
  total: number;
  scanned: number;
  updated: number;
  failed: number;
  failures: { ref: string; message: string }[];
  /** After a crash: counts may miss one batch. */
  resumed: boolean;
  after: string | null;
  owner: string;
  beat_at: string;
  started_at: string;
  finished_at: string | null;
  /** Reverts the account's status changes of `query` in this period. */
  undo?: { since: string; until: string };
  undone_at?: string | null;
}

/** One document per version of a project (builds/commit-history.ts). */
export interface CommitsDoc extends BuildCommits {
  id: string;
  project: string;
  version: string;
  stored_at: string;
}

export interface SearchTextDoc {
  id: string;
  project: string;
  text: string;
  n: number;
}

export interface CounterDoc {
  id: string;
  n: number;
}

/** Errors of a project in one hour. */
export interface TrafficDoc extends Doc {
  project: string;
  /** Start of the hour, RFC 3339. */
  hour: string;
  /** By ten minutes, `s0` to `s5`. */
  slots?: Readonly<Record<string, number>>;
  /** Sketch of the users affected. */
  people?: string;
}
