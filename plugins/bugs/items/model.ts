/**
 * The documents of the bug tracker. `ItemDoc` is small and hot: counters, state and what lists filter by. Long texts stand
 * in `TextsDoc`, payloads in `OccurrenceDoc`, so that counting an occurrence rewrites little.
 *
 * Rejected: a collection of minutes (contract 21's `item_minute`) beside the item. The 60 counters stand in the item, so that
 * one atomic write counts, moves the rolling hour and answers it, and no list page needs a second query for it.
 */
import type { ErrorLevel, ItemStatus, ItemType, Report, Severity } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store.js';

export type EventName = 'bug.created' | 'bug.critical' | 'bug.resolved' | 'feature.created';

/** An event or an activity entry that was written with its change and has not left the item yet. */
export interface OutboxEntry {
  /** `evt_<uuidv7>` of an event, a UUIDv7 of an activity entry. */
  id: string;
  kind: 'event' | 'activity';
  /** Event name, or what happened. */
  name: string;
  at: string;
  actor: string;
  data: { [key: string]: Json };
}

export interface Lease {
  agent: string;
  /** Token id or account of the holder. */
  credential: string;
  /** SHA-256 of the claim token: the token itself is never stored. */
  token_hash: string;
  claimed_at: string;
  expires_at: string;
  renewals: number;
  lease_seconds: number;
}

export interface ItemDoc {
  id: string;
  ref: string;
  type: ItemType;
  project: string;
  title: string;
  exception_class: string | null;
  error_level: ErrorLevel | null;
  severity: Severity;
  environment: string | null;
  client_ref: string | null;
  repo_url: string | null;
  commit_sha: string | null;
  file_path: string | null;
  line_no: number | null;
  push_id: string | null;
  target_agent: string | null;
  tags: string[];
  app_version: string | null;
  resolved_in_build: string | null;
  dedup_key: string;
  status: ItemStatus;
  duplicate_of: string | null;
  reason: string | null;
  muted: boolean;
  muted_reason: string | null;
  muted_by_rule_id: string | null;
  hit_count: number;
  first_seen_at: string;
  last_seen_at: string;
  first_build: string | null;
  last_build: string | null;
  regression: boolean;
  regression_count: number;
  regressed_at: string | null;
  regressed_in_build: string | null;
  late_count: number;
  severity_locked: boolean;
  claim: Lease | null;
  claim_count: number;
  source: Report['source'];
  reported_by: string;
  created_at: string;
  updated_at: string;
  reopened_at: string | null;
  resolved_at: string | null;
  closed_at: string | null;
  rev: number;
  /** Fields whose text was rewritten by somebody who may manage items. */
  trusted: string[];

  /** Leases that ran out since a person last had the item (contract 20: after 5 it needs one). */
  expired_count: number;
  /** How often another item was linked to it as a duplicate; missing: never. */
  links?: number;
  /** 0 low … 3 critical: what the severity sort reads. */
  severity_rank: number;
  /** The highest urgency that an occurrence's error_level has asked for. */
  level_rank: number;
  /** Which occurrences may be counted without a look at the item: see `laneOf`. */
  lane: string | null;
  /** Order of `action=next`; present while the item may be handed out. */
  queue_key: string | null;
  /** `<project> <version>` while a publish may close the item. */
  build_key: string | null;
  /** Title, message and class in lower case, for `q`. */
  search_text: string;
  /** Occurrences per minute (`m<minute since 1970>`, the last hour) and per hour (`h…`, the last two days). */
  minutes: { [minute: string]: number };
  hours: { [hour: string]: number };
  /** Per day (`d<day since 1970>`, UTC, the last month): what its hours left behind; missing on young items. */
  days?: { [day: string]: number };
  /** References of reports that were counted and whose `refs` document is not finished yet. */
  inflight: { [ref: string]: number };
  outbox: OutboxEntry[];
  /** Changes with every entry that joins the outbox; null when the outbox is empty. */
  outbox_at: string | null;
  /** What was told in this cycle; `created` is told once in the item's life. */
  sent: { created: boolean; critical: boolean; resolved: boolean };
  /** The sampling window: hits before it, and when it began. */
  sample_base: number;
  sample_from: string;
  /** Holds what overflowed (overflow.ts). */
  overflow?: true;
  /** Occurrences of unknown keys that the flood rule led here; missing: none. */
  flooded?: number;
  /** `<rule> <minute>` of the last `error.rate_exceeded`; missing while it is armed (alarms.ts). */
  alarm?: string;
}

export interface TextsDoc {
  /** The item's. */
  id: string;
  description: string | null;
  error_message: string | null;
  stack_trace: string | null;
}

export interface KeyDoc {
  /** Hash of project and key. */
  id: string;
  project: string;
  key: string;
  /** The item that the key belongs to, also while that is a duplicate. */
  item_id: string;
  /** The item that counts for it while its own is a duplicate; missing otherwise. */
  counts_at?: string;
}

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

/** Decides which item an unknown key belongs to: one document per class and message, whatever the origin. */
export interface FamilyDoc {
  /** Hash of project and bare key. */
  id: string;
  project: string;
  rev: number;
  newest: string;
  /** The item without an origin that no origin has adopted yet. */
  unadopted: string | null;
  recent: { key: string; item: string }[];
}

/** New items of one project, type, class and origin (contract 21, flood). */
export interface FloodDoc {
  /** Hash of project and source. */
  id: string;
  /** When the latest were made, oldest first; as many as the rule asks for. */
  made_at: string[];
}

export interface RefDoc {
  /** Hash of project and client_ref. */
  id: string;
  project: string;
  item_id: string;
  /** Present until the count is known to stand in the item. */
  open_at: string | null;
  /** Null for an item's own reference; 30 days for an occurrence's. */
  expires_at: string | null;
}

/** A kept occurrence, whole; stored as `StoredOccurrence` (payload.ts). */
export interface OccurrenceDoc {
  /** `<item>:<slot>` */
  id: string;
  item_id: string;
  occurrence_id: string;
  occurred_at: string;
  received_at: string;
  error_message: string | null;
  exception_class: string | null;
  error_level: ErrorLevel | null;
  stack_trace: string | null;
  environment: string | null;
  app_version: string | null;
  commit_sha: string | null;
  file_path: string | null;
  line_no: number | null;
  host: string | null;
  client_ref: string | null;
  tags: string[];
  context: Json;
  breadcrumbs: Json;
}

/** All else stands in `packed`. */
export interface PackedOccurrence extends Pick<
  OccurrenceDoc,
  'id' | 'item_id' | 'occurrence_id' | 'occurred_at' | 'received_at'
> {
  packed: string;
}

export type StoredOccurrence = (OccurrenceDoc & { packed?: undefined }) | PackedOccurrence;

export interface CommentDoc {
  id: string;
  item_id: string;
  body: string;
  author: string;
  created_at: string;
}

export interface ActivityDoc {
  id: string;
  item_id: string;
  at: string;
  action: string;
  actor: string;
  data: { [key: string]: Json };
  /** `<date> <new|resolved|regressed> <project>`; only entries that the statistics count have it. */
  stat?: string;
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

/** The last number given out per project. */
export interface CounterDoc {
  id: string;
  n: number;
}
