/**
 * The documents of what is under way, or kept, beside the items: merges, deletions, feedback, saved views, bulk
 * changes.
 */
import type { Json } from '../../../ports/store.js';
import type { ItemQuery } from './filters.js';

/** A merge or a split under way (rekeying.ts). */
export interface MoveDoc {
  id: string;
  item_id: string;
  /** The item's. */
  ref: string;
  /** What it becomes a duplicate of; null: it is split. */
  into: string | null;
  /** The item on the other side of the merge or split. */
  other: string | null;
  /** The history entry of the item's own change: without it the change never happened. */
  entry: string | null;
  actor: string;
  at: string;
}

/** An item that was deleted, or is being deleted (removal.ts). */
export interface RemovalDoc {
  /** The item's. */
  id: string;
  /** Its own references. */
  refs: string[];
  /** Null when everything of it is gone. */
  open_at: string | null;
  /** Until then a report may name the item; null while it is open. */
  expires_at: string | null;
}

/** Feedback that waits for its event. */
export interface WaitingDoc {
  /** The feedback's own reference. */
  id: string;
  project: string;
  /** Reference of the event that it is about. */
  event: string;
  /** Of the comment that it becomes. */
  body: string;
  expires_at: string;
}

/** A named query of the list of items (saved-views.ts). */
export interface SavedViewDoc {
  /** Hash of owner and name. */
  id: string;
  name: string;
  /** `user:<account id>` */
  owner: string;
  /** The account's name when it was saved. */
  owner_name: string;
  shared: boolean;
  query: { [field: string]: Json };
  created_at: string;
  updated_at: string;
}

/** A change of many items in the background (bulk-runs.ts). */
export interface BulkRunDoc {
  id: string;
  query: ItemQuery;
  /** An item that matches and is not meant. */
  except: string | null;
  /** An `Edit`. */
  set: { [field: string]: Json | undefined };
  says: {
    /** `Close`, `closed` */
    does: string;
    done: string;
    /** Address of the list, or of the item. */
    back: string;
  };
  /** Who asked for it. */
  by: { id: string; name: string };
  state: 'running' | 'done' | 'failed';
  /** Items that matched when it began; fewer or more may be looked at. */
  total: number;
  scanned: number;
  updated: number;
  failed: number;
  /** The first ones. */
  failures: { ref: string; message: string }[];
  /** Taken up after a crash: the counts may be short of one batch. */
  resumed: boolean;
  /** Id of the last item looked at. */
  after: string | null;
  owner: string;
  beat_at: string;
  started_at: string;
  finished_at: string | null;
  /**
   * It takes back what its account has set to the status of `query` in this time: each item becomes what it was before.
   */
  undo?: { since: string; until: string };
  /** When it was taken back itself. */
  undone_at?: string | null;
}
