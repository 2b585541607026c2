/**
 * Documents of the bug tracker. `ItemDoc` is small and hot; long texts are in `TextsDoc` and
 * payloads in `OccurrenceDoc`, so that counting rewrites little. The minute counters are in the
 * item, so one atomic write counts and returns the rolling hour (rejected: contract 21's
 * `item_minute`).
 */
import type { Item, Report } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store.js';
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
  /** `evt_<uuidv7>` for an event, a UUIDv7 otherwise. */
  id: string;
  kind: 'event' | 'activity' | 'comment';
  name: string;
  at: string;
  actor: string;
  data: { [key: string]: Json };
}

/** Clock that the lease times were written by; missing in leases of earlier versions. */
export interface LeaseClockStamp {
  epoch?: string;
  /** Wall-clock time minus monotonic time of the writer, in milliseconds. */
  offset?: number;
}

export interface ClaimLease extends LeaseClockStamp {
  agent: string;
  credential: string;
  /** SHA-256 of the claim token; the token itself is never stored. */
  token_hash: string;
  claimed_at: string;
  expires_at: string;
  renewals: number;
  note?: string;
  tokens?: number;
  lease_seconds: number;
  /** Slot within `bugs.max_claims`, unique in the store; missing when a single process claims. */
  slot?: string;
  /** Changes by others since the holder's last response, oldest first. */
  unread?: UnreadEntry[];
}

/** Comment or history entry that the lease holder has not received yet. */
export interface UnreadEntry {
  id: string;
  kind: 'comment' | 'activity';
  person?: true;
  /**
   * Already sent to the holder's credential. Several agents may share it, so another one may have
   * read it.
   */
  shown?: true;
}

/** Why a lease ended: `error.why` for callers that still use its token. */
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
   * Time at which `pr_url` became the fix. Missing or null: it only mentions the item, or the item
   * was reopened since.
   */
  pr_fix_at?: string | null;
  /** `pullRequestKey`, while the state of that pull request may still change the item. */
  pr_key?: string | null;
  assignee?: string | null;
  claim: ClaimLease | null;
  reported_by: Report['reported_by'];
  /** Fields whose text was rewritten by a caller with the right to manage items. */
  trusted: string[];

  /** Set while a user has put the item on hold (contract 20, hold). */
  held?: { reason: string; by: string; at: string } | null;
  blocked?: { by: string[]; at: string } | null;
  blocking?: true;
  /**
   * Pending work: updating the items that it blocks (store/blocking.ts) and its search text
   * (store/search-texts.ts).
   */
  relink_at?: string;
  words_at?: string;
  /**
   * Last holder whose lease ended before the work was done, and the reason (claims/handover.ts).
   */
  handed?: { by: string; reason: string | null; at: string };
  fix_comment?: string | null;
  earlier_fix?: { build: string | null; commit: string | null; comment: string | null };
  resolved_by?: string;
  /** Name used for that resolution: the agent's, otherwise the credential's. */
  resolved_as?: string;
  /** Credential and agent of the last lease that expired; null after a release. */
  last_holder?: { credential: string; agent: string } | null;
  /**
   * Releases since the last change of status (contract 20, leases: after 3 the item needs a
   * person).
   */
  release_count?: number;
  /**
   * Hash of credential and agent → RFC 3339 time until which `action=next` skips the item for this
   * holder.
   */
  passed?: { [holder: string]: string };
  ended_leases?: { token_hash: string; why: LeaseEnd; reason?: string }[];
  /**
   * Leases that expired since a user last had the item (contract 20: after 5 it needs a person).
   */
  expired_count: number;
  /**
   * Version that is raised when a duplicate is linked to this item or its blockers are
   * re-evaluated. A change planned on an older value is planned again.
   */
  links?: number;
  severity_rank: number;
  /** Highest urgency that an occurrence's error_level requested. */
  level_rank: number;
  [FAST_COUNT_KIND_FIELD]: string | null;
  /** Sort key of `action=next`; present while the item is available. */
  queue_key: string | null;
  /** `<project> <version>` while a publish may close the item. */
  build_key: string | null;
  /** Title, message, class, file and transaction in lower case, for `q` (search-text.ts). */
  search_text: string;
  /**
   * Occurrences per minute (`m<minute since 1970>`, the last hour) and per hour (`h…`, the last two
   * days).
   */
  minutes: { [minute: string]: number };
  hours: { [hour: string]: number };
  /** Occurrences per day (`d<day since 1970>`, UTC, the last month), rolled up from the hours. */
  days?: { [day: string]: number };
  /** References of counted reports whose `refs` document is still open. */
  inflight: { [ref: string]: number };
  /**
   * Creator of the item. The next change, or the first read of the history, moves it into a history
   * entry.
   */
  [UNFILED_CREATION_FIELD]?: string;
  /** The same for a claim by `action=next`: entry id and claimant. */
  [UNFILED_CLAIM_FIELD]?: { id: string; actor: string };
  outbox: ItemOutboxEntry[];
  /** Changes with every new outbox entry; null when the outbox is empty. */
  outbox_at: string | null;
  /** Events emitted in this cycle; `created` is emitted once in the item's life. */
  sent: { created: boolean; critical: boolean; resolved: boolean };
  sample_base: number;
  sample_from: string;
  /** The project's overflow item (intake/group-resolver.ts). */
  overflow?: true;
  people?: number;
  people_sketch?: string;
  people_merged?: string;
  /** Occurrences were split off, so the remaining slots have gaps. */
  parted?: true;
  parted_by?: string;
  split_from?: string;
  flooded?: number;
  /** `first_build` and `last_build`, with the build number that was reported separately. */
  first_numbered?: string;
  last_numbered?: string;
  /**
   * `<project> <version>` (`toBuildKey`) of the new group or regression, and the time from which it
   * counts (version-faults.ts).
   */
  fault_key?: string;
  fault_at?: string;
  /**
   * All reports of the fault used intake keys: `n` networks, each as a keyed hash. Missing: a token
   * confirmed the fault.
   */
  public_fault?: { networks: readonly string[]; n: number };
  closed_by?: string;
  /**
   * `<rule> <minute>` of the last `error.rate_exceeded`; missing while the alarm is armed
   * (rate-alarms.ts).
   */
  alarm?: string;
}

export interface TextsDoc {
  id: string;
  description: string | null;
  error_message: string | null;
  stack_trace: string | null;
}

/** Reports split off from a key; they count under a derived key. */
export interface SplitKey {
  key: string;
  by: Difference;
}

export interface KeyDoc {
  id: string;
  project: string;
  key: string;
  /** Owner of the key, even while that item is a duplicate. */
  item_id: string;
  /** Item that counts for the key while its owner is a duplicate. */
  counts_at?: string;
  divided?: SplitKey[];
  came?: 'flood' | 'joined' | 'rewritten';
  rule_id?: string;
  /** Origin and masked message that produced the key, truncated; missing for fingerprints. */
  made_of?: { origin: string; masked: string };
}

/**
 * Decides which item a new key belongs to: one document per class and message, regardless of
 * origin.
 */
export interface FamilyDoc {
  id: string;
  project: string;
  rev: number;
  newest: string;
  /** Item without an origin that no origin has adopted yet. */
  unadopted: string | null;
  recent: { key: string; item: string }[];
}

/** Times of new items of one project, type, class and origin (contract 21, flood). */
export interface FloodDoc {
  id: string;
  made_at: string[];
  /** Coarse keys of the first items, deleted ones included (groups/flood-detector.ts). */
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

/** Maximum size of a comment's body in bytes (contract 20, endpoints). */
export const MAX_COMMENT_LENGTH = 16_384;

export interface CommentDoc {
  id: string;
  item_id: string;
  body: string;
  author: string;
  /** Missing in old comments, which count as an integration's. */
  author_kind?: AuthorKind;
  created_at: string;
}

export interface ActivityDoc {
  id: string;
  item_id: string;
  at: string;
  action: string;
  actor: string;
  data: { [key: string]: Json };
  /** `<date> <new|resolved|regressed> <project>`; only on entries that the statistics count. */
  stat?: string;
}

/**
 * Published release, as `resolved_in_build` names it: one document per version of a project, and
 * one per build name of a version.
 */
export interface BuildDoc {
  id: string;
  project: string;
  version: string;
  /** Canonical spelling of the version; missing in old documents. */
  version_key?: string;
  build: string | null;
  build_key?: string;
  publication?: string;
  published_at: string;
}
