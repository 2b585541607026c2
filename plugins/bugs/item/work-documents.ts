/**
 * Documents of work under way, and of kept things, beside the items: merges, splits, deletions, feedback, saved views,
 * bulk changes.
 */
import type { BuildCommits } from '../../../ports/domain/releases.js';
import type { Json } from '../../../ports/store.js';
import type { ItemQuery } from './filters.js';
import type { LinkEnds } from './link-kinds.js';
import type { ItemDoc, KeyPart, TextsDoc } from './model.js';

/** A merge or a split under way (rekeying.ts). */
export interface MoveDoc {
  id: string;
  item_id: string;
  /** The item's ref. */
  ref: string;
  /** The item whose duplicate it becomes; null: a split. */
  into: string | null;
  /** The item on the other side of the merge or split. */
  other: string | null;
  /** The history entry of the item's own change; without the entry the change never happened. */
  entry: string | null;
  actor: string;
  at: string;
}

/** A link between two items (contract 20, links), stored once for both ends (links/links.ts). */
export interface LinkDoc extends LinkEnds {
  /** Hash of kind and ends. */
  id: string;
  /** `asked` counts for nobody yet; `leaving` no longer does. */
  state: 'asked' | 'made' | 'leaving';
  /** Present while the link is being made or removed. */
  open_at?: string;
  created_at: string;
  /** Who makes or removes it. */
  actor: string;
  /** While it is made or removed by the holder of an end: the hash of the lease's token, to whom it is no news. */
  lease?: string;
  /** Ids of the history entries about this making or removal, at each end. */
  entries: { from: string; to: string };
}

/** A split by occurrence under way: the marker, with all that is still to be written (splitting/). */
export interface SplitDoc {
  /** The id of the new item. */
  id: string;
  project: string;
  /** The item that was split. */
  item_id: string;
  /** The history entry of the item's own change; without the entry the split never happened. */
  entry: string;
  at: string;
  made: ItemDoc;
  made_texts: TextsDoc;
  /** New message and trace of the item that was split; null: they stay. */
  left_texts: Pick<TextsDoc, 'error_message' | 'stack_trace'> | null;
  keys: string[];
  parts: { shared: string; part: KeyPart }[];
  /** Keys without origin of which no report stays. */
  bare_keys: string[];
  /** Kept occurrences: the slot's id, and which occurrence it held. */
  occurrences: { id: string; occurrence_id: string }[];
}

/** An item that was deleted, or is being deleted (removal.ts). */
export interface RemovalDoc {
  /** The item's id. */
  id: string;
  /** The item's own references. */
  refs: string[];
  /** Null when all parts of the item are gone. */
  open_at: string | null;
  /** The time until which a report may name the item; null while the deletion is open. */
  expires_at: string | null;
}

/** Feedback that waits for its event. */
export interface WaitingDoc {
  /** The feedback's own reference. */
  id: string;
  project: string;
  /** Reference of the event that the feedback is about. */
  event: string;
  /** Body of the comment that the feedback becomes. */
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
  /** A shared view of one project stands at the lists of that project alone; absent: at every list. */
  project?: string | null;
  query: { [field: string]: Json };
  created_at: string;
  updated_at: string;
}

/** A change of many items in the background (bulk-runs.ts). */
export interface BulkRunDoc {
  id: string;
  query: ItemQuery;
  /** An item that matches but is left out. */
  except: string | null;
  /** The change, an `Edit`. */
  set: { [field: string]: Json | undefined };
  says: {
    /** Words for the change: `Close`, `closed`. */
    does: string;
    done: string;
    /** Address of the list or item to go back to. */
    back: string;
  };
  /** The person who asked for the change. */
  by: { id: string; name: string };
  state: 'running' | 'done' | 'failed';
  /** Items that matched at the beginning; the run may look at fewer or more. */
  total: number;
  scanned: number;
  updated: number;
  failed: number;
  /** The first failures. */
  failures: { ref: string; message: string }[];
  /** Resumed after a crash: the counts may lack one batch. */
  resumed: boolean;
  /** Id of the last item looked at. */
  after: string | null;
  owner: string;
  beat_at: string;
  started_at: string;
  finished_at: string | null;
  /**
   * Takes back changes that the account has made to the status of `query` in this time: each item becomes what it was
   * before.
   */
  undo?: { since: string; until: string };
  /** The time when this run was itself taken back. */
  undone_at?: string | null;
}

/** The commits that a version brought (builds/build-history.ts): one document per version of a project. */
export interface CommitsDoc extends BuildCommits {
  /** Hash of project and canonical version. */
  id: string;
  project: string;
  version: string;
  stored_at: string;
}

/** All texts of an item that has a description or comments, for `q` (store/words.ts). */
export interface WordsDoc {
  /** The item's id. */
  id: string;
  project: string;
  text: string;
  /** Raised by every writing of the text. */
  n: number;
}

/** The last number given out per project. */
export interface CounterDoc {
  id: string;
  n: number;
}
