import type { BuildCommits } from '../../../ports/domain/releases.js';
import type { Json } from '../../../ports/store.js';
import type { ItemQuery } from './filters.js';
import type { LinkEnds } from './link-kinds.js';
import type { ItemDoc, SplitKey, TextsDoc } from './model.js';

export interface RekeyingDoc {
  id: string;
  item_id: string;
  ref: string;
  /** Target of the merge; null for a split. */
  into: string | null;
  other: string | null;
  /** History entry of the item's own change; without it the change did not happen. */
  entry: string | null;
  actor: string;
  at: string;
}

/**
 * Link between two items (contract 20, links), stored once for both ends (links/link-service.ts).
 */
export interface LinkDoc extends LinkEnds {
  id: string;
  /** Only `made` links count. */
  state: 'asked' | 'made' | 'leaving';
  open_at?: string;
  created_at: string;
  actor: string;
  /**
   * Hash of the lease token of the holder who makes the change, so that the holder is not notified
   * of it.
   */
  lease?: string;
  entries: { from: string; to: string };
}

/** Marker of a split by occurrence in progress, with all pending writes (splitting/). */
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
  /** Keys without origin that no remaining report uses. */
  bare_keys: string[];
  occurrences: { id: string; occurrence_id: string }[];
}

export interface RemovalDoc {
  id: string;
  refs: string[];
  /** Null when all parts of the item are deleted. */
  open_at: string | null;
  /** Time until which reports may still name the item; null while the deletion is open. */
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
  /** Project whose lists show the shared view; missing: all lists. */
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
  /** Items that matched at the start; the run may process fewer or more. */
  total: number;
  scanned: number;
  updated: number;
  failed: number;
  failures: { ref: string; message: string }[];
  /** Resumed after a crash: the counts may miss one batch. */
  resumed: boolean;
  after: string | null;
  owner: string;
  beat_at: string;
  started_at: string;
  finished_at: string | null;
  /** Reverts status changes that the account made to the items of `query` in this period. */
  undo?: { since: string; until: string };
  undone_at?: string | null;
}

/** Commits of a version (builds/commit-history.ts): one document per version of a project. */
export interface CommitsDoc extends BuildCommits {
  id: string;
  project: string;
  version: string;
  stored_at: string;
}

/** Search text of an item with a description or comments, for `q` (store/search-texts.ts). */
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
