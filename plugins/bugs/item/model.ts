/**
 * `ItemDoc` is small and hot, so long texts are in `TextsDoc` and payloads in `OccurrenceDoc`. The
 * minute counters are in the item, so one atomic write counts and returns the rolling hour
 * (rejected: contract 21's `item_minute`).
 */
import type { Item, Report } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store/index.js';
import type { AuthorKind } from '../caller.js';
import type { Difference } from '../grouping/report-difference.js';
import type { PlaceMarks } from './place-marks.js';
import type {
  FAST_COUNT_KIND_FIELD,
  COARSE_KEYS_FIELD,
  UNFILED_CLAIM_FIELD,
  UNFILED_CREATION_FIELD,
} from './stored-field-names.js';

export type EventName = 'bug.created' | 'bug.critical' | 'bug.resolved' | 'feature.created';

export interface ItemOutboxEntry {
  /** `evt_<uuidv7>` for events, else a UUIDv7. */
  id: string;
  kind: 'event' | 'activity' | 'comment';
  name: string;
  at: string;
  actor: string;
  /** That acted with the actor's token. */
  agent?: string;
  data: { [key: string]: Json };
}

/** Missing in leases of earlier versions. */
export interface LeaseClockStamp {
  epoch?: string;
  /** Wall-clock minus monotonic time, in milliseconds. */
  offset?: number;
}

export interface ClaimLease extends LeaseClockStamp {
  agent: string;
  credential: string;
  /** SHA-256; the token itself is never stored. */
  token_hash: string;
  claimed_at: string;
  expires_at: string;
  renewals: number;
  note?: string;
  tokens?: number;
  lease_seconds: number;
  /** Within `bugs.max_claims`, unique in the store; missing when a single process claims. */
  slot?: string;
  /** Changes by others, oldest first. */
  unread?: UnreadEntry[];
}

/** Not yet received by the lease holder. */
export interface UnreadEntry {
  id: string;
  kind: 'comment' | 'activity';
  person?: true;
  /** Sent to the holder's credential, which several agents may share. */
  shown?: true;
}

/** `error.why` for callers that still use its token. */
export type LeaseEnd = 'expired' | 'released' | 'resolved' | 'taken' | 'overridden';

type DerivedItemField =
  | 'urgency'
  | 'hour_count'
  | 'flooded_count'
  | 'claim'
  | 'untrusted_fields'
  | 'description'
  | 'error_message'
  | 'stack_trace'
  | 'fix_commit'
  | 'hold'
  | 'blocked'
  | 'hold_reason'
  | 'pr_url'
  | 'pr_state'
  | 'review'
  | 'assignee'
  | 'people';

export interface ItemDoc extends Omit<Item, DerivedItemField>, PlaceMarks {
  fix_commit?: string | null;
  pr_url?: string | null;
  pr_state?: Item['pr_state'];
  review?: Item['review'];
  /**
   * When `pr_url` became the fix. Missing or null: it only mentions the item, or the item was
   * reopened.
   */
  pr_fix_at?: string | null;
  /** While its state may still change the item. */
  pr_key?: string | null;
  assignee?: string | null;
  claim: ClaimLease | null;
  reported_by: Report['reported_by'];
  /** Rewritten by a caller with the right to manage items. */
  trusted: string[];

  /** Muted by a user until then, without a rule. */
  muted_until?: string | null;

  /** Set while on hold (contract 20, hold). */
  held?: { reason: string; by: string; at: string } | null;
  blocked?: { by: string[]; at: string } | null;
  blocking?: true;
  /**
   * Pending updates of blocked items (store/blocking.ts) and search text (store/search-texts.ts).
   */
  relink_at?: string;
  words_at?: string;
  /** Holder whose lease ended before the work was done (claims/handover.ts). */
  handed?: { by: string; reason: string | null; at: string };
  fix_comment?: string | null;
  earlier_fix?: { build: string | null; commit: string | null; comment: string | null };
  resolved_by?: string;
  /** The agent's name, otherwise the credential's. */
  resolved_as?: string;
  /** Of the last expired lease; null after a release. */
  last_holder?: { credential: string; agent: string } | null;
  /** Since the last change of status (contract 20, leases: after 3 the item needs a person). */
  release_count?: number;
  /** Hash of credential and agent → RFC 3339 time until which `action=next` skips the item. */
  passed?: { [holder: string]: string };
  ended_leases?: { token_hash: string; why: LeaseEnd; reason?: string }[];
  /** Since a user last had the item (contract 20: after 5 it needs a person). */
  expired_count: number;
  /**
   * Raised when a duplicate is linked to this item or its blockers are re-evaluated; a change
   * planned on an older value is planned again.
   */
  links?: number;
  severity_rank: number;
  /** Highest urgency requested by an error_level. */
  level_rank: number;
  [FAST_COUNT_KIND_FIELD]: string | null;
  /** For `action=next`; present while the item is available. */
  queue_key: string | null;
  /** `<project> <version>` while a publish may close the item. */
  build_key: string | null;
  /** `<project> <version>` of the fix; missing in older documents. */
  fix_key?: string | null;
  search_text: string;
  /** Per minute (`m<minute since 1970>`, the last hour) and hour (`h…`, the last two days). */
  minutes: { [minute: string]: number };
  hours: { [hour: string]: number };
  /** Per day (`d<day since 1970>`, UTC, the last month), rolled up from the hours. */
  days?: { [day: string]: number };
  /** Their `refs` document is still open. */
  inflight: { [ref: string]: number };
  /** Moved into a history entry by the next change, or the first read of the history. */
  [UNFILED_CREATION_FIELD]?: string;
  /** The same for a claim by `action=next`. */
  [UNFILED_CLAIM_FIELD]?: { id: string; actor: string };
  outbox: ItemOutboxEntry[];
  /** Changes with every new entry; null when the outbox is empty. */
  outbox_at: string | null;
  /** In this cycle; `created` once in the item's life. */
  sent: { created: boolean; critical: boolean; resolved: boolean };
  sample_base: number;
  sample_from: string;
  /** See intake/group-resolver.ts. */
  overflow?: true;
  people?: number;
  people_sketch?: string;
  people_merged?: string;
  /** Split-off occurrences left gaps in the slots. */
  parted?: true;
  parted_by?: string;
  split_from?: string;
  flooded?: number;
  /** With the separately reported build number. */
  first_numbered?: string;
  last_numbered?: string;
  /**
   * `<project> <version>` of the new group or regression, and since when it counts
   * (version-faults.ts).
   */
  fault_key?: string;
  fault_at?: string;
  /** `n` networks as keyed hashes; missing once a token confirmed the fault. */
  public_fault?: { networks: readonly string[]; n: number };
  closed_by?: string;
  /** `<rule> <minute>` of the last `error.rate_exceeded`; missing while armed (rate-alarms.ts). */
  alarm?: string;
}

export interface TextsDoc {
  id: string;
  description: string | null;
  error_message: string | null;
  stack_trace: string | null;
}

/** Split off; counts under a derived key. */
export interface SplitKey {
  key: string;
  by: Difference;
}

export interface KeyDoc {
  id: string;
  project: string;
  key: string;
  /** Even while that item is a duplicate. */
  item_id: string;
  /** While the owner is a duplicate. */
  counts_at?: string;
  divided?: SplitKey[];
  came?: 'flood' | 'joined' | 'rewritten';
  rule_id?: string;
  /** Truncated; missing for fingerprints. */
  made_of?: { origin: string; masked: string };
}

/** Decides which item a new key belongs to: one document per class and message. */
export interface FamilyDoc {
  id: string;
  project: string;
  rev: number;
  newest: string;
  /** Item without an origin, until one adopts it. */
  unadopted: string | null;
  recent: { key: string; item: string }[];
}

export interface FloodDoc {
  id: string;
  made_at: string[];
  /** Of the first items, including deleted ones (groups/flood-detector.ts). */
  [COARSE_KEYS_FIELD]?: { key: string; item: string }[];
}

export interface RefDoc {
  id: string;
  project: string;
  item_id: string;
  /** Set until the item is confirmed to include the count. */
  open_at: string | null;
  /** Null for an item's own reference; 30 days for an occurrence's. */
  expires_at: string | null;
}

/** In bytes (contract 20, endpoints). */
export const MAX_COMMENT_LENGTH = 16_384;

export interface CommentDoc {
  id: string;
  item_id: string;
  body: string;
  author: string;
  /** That wrote with the author's token. */
  agent?: string;
  /** Missing means an integration's. */
  author_kind?: AuthorKind;
  created_at: string;
}

export interface ActivityDoc {
  id: string;
  item_id: string;
  at: string;
  action: string;
  actor: string;
  /** That acted with the actor's token. */
  agent?: string;
  data: { [key: string]: Json };
  /** `<date> <new|resolved|regressed> <project>`; only on counted entries. */
  stat?: string;
}

/**
 * One document per version of a project, and one per build name of a version, as
 * `resolved_in_build` names it.
 */
export interface BuildDoc {
  id: string;
  project: string;
  version: string;
  /** Missing in old documents. */
  version_key?: string;
  build: string | null;
  build_key?: string;
  publication?: string;
  published_at: string;
}
