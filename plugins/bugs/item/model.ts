/**
 * The documents of the bug tracker. `ItemDoc` is small and hot: counters, state and the fields that lists filter by.
 * Long texts are in `TextsDoc` and payloads in `OccurrenceDoc`, so that counting an occurrence rewrites little.
 *
 * Rejected: a collection of minutes (contract 21's `item_minute`) beside the item. The 60 counters are in the item, so
 * one atomic write counts, moves the rolling hour and returns it, and no list page needs a second query.
 */
import type { Item, Report } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store.js';
import type { AuthorKind } from '../caller.js';
import type { Difference } from '../grouping/difference.js';
import type { PlaceMarks } from './place-marks.js';
import type { BLIND_KIND, COARSE_KEYS, UNFILED_CLAIM, UNFILED_CREATION } from './stored-names.js';

export type EventName = 'bug.created' | 'bug.critical' | 'bug.resolved' | 'feature.created';

/** An event, a history entry or a comment that was written with its change and has not left the item yet. */
export interface ItemOutboxEntry {
  /** `evt_<uuidv7>` of an event, a UUIDv7 of the others. */
  id: string;
  kind: 'event' | 'activity' | 'comment';
  /** Event name, or the action. A comment's text is in `data.body`. */
  name: string;
  at: string;
  actor: string;
  data: { [key: string]: Json };
}

/** By which clock the times of a lease were written; missing: by that of an earlier version. */
export interface LeaseMark {
  /** `Clock.epoch` of the writer. */
  epoch?: string;
  /** How far its time of day was ahead of its monotonic clock, in milliseconds. */
  offset?: number;
}

export interface ClaimLease extends LeaseMark {
  agent: string;
  /** Token id or account of the holder. */
  credential: string;
  /** SHA-256 of the claim token: the token itself is never stored. */
  token_hash: string;
  claimed_at: string;
  expires_at: string;
  renewals: number;
  /** What the holder said last of its progress, and of the tokens of a language model that it has used in all. */
  note?: string;
  tokens?: number;
  lease_seconds: number;
  /** The holder's place among `bugs.max_claims`, unique in the store; missing: claimed where one process claims. */
  slot?: string;
  /** What others did to the item since the holder's last answer, oldest first; missing: nothing. */
  unread?: Unread[];
}

/** News that the holder of a lease has not been told: a comment, or an entry of the history. */
export interface Unread {
  id: string;
  kind: 'comment' | 'activity';
  /** A person wrote it. */
  person?: true;
  /** It was in an answer to the holder's credential, which several agents share: perhaps another one has read it. */
  shown?: true;
}

/** The reason why a lease ended: `error.why` for a caller that still uses its token. */
export type LeaseEnd = 'expired' | 'released' | 'resolved' | 'taken' | 'overridden';

/** Fields that are computed for an answer (view.ts) or stored in another collection. */
type Elsewhere =
  | 'urgency'
  | 'hour_count'
  | 'flooded_count'
  | 'claim'
  | 'untrusted_fields'
  | 'description'
  | 'error_message'
  | 'stack_trace'
  // Missing in items from before these fields.
  | 'fix_commit'
  | 'hold'
  | 'blocked'
  | 'hold_reason'
  | 'pr_url'
  | 'pr_state'
  | 'review'
  | 'assignee'
  | 'people';

/** An item as it is stored: the fields that the API shows (`Item`), and those that only the rules need. */
export interface ItemDoc extends Omit<Item, Elsewhere>, PlaceMarks {
  fix_commit?: string | null;
  pr_url?: string | null;
  pr_state?: Item['pr_state'];
  review?: Item['review'];
  /** When `pr_url` was named as the fix; missing or null: it only mentions the item, or the item came back since. */
  pr_fix_at?: string | null;
  /** `pullRequestKey` while the state of that pull request may still change the item. */
  pr_key?: string | null;
  assignee?: string | null;
  claim: ClaimLease | null;
  reported_by: Report['reported_by'];
  /** Fields whose text a caller with the right to manage items has rewritten. */
  trusted: string[];

  /** A person has stopped the work on it (contract 20, hold); missing or null: nobody has. */
  held?: { reason: string; by: string; at: string } | null;
  /** Ids of unfinished items that block it; missing or null: none */
  blocked?: { by: string[]; at: string } | null;
  /** Other items were linked as blocked by it. */
  blocking?: true;
  /** Still to be done: telling the items that it blocks (store/blocking.ts), its searched text (store/words.ts). */
  relink_at?: string;
  words_at?: string;
  /** The holder whose lease ended last without an end of the work, and the reason (claims/handover.ts). */
  handed?: { by: string; reason: string | null; at: string };
  /** The id of the comment that its resolution was stored with. */
  fix_comment?: string | null;
  /** The fix that did not last; `comment` is the id of the comment about it. */
  earlier_fix?: { build: string | null; commit: string | null; comment: string | null };
  /** Token id or account that resolved the item last; missing: never, or before this field. */
  resolved_by?: string;
  /** The name that it resolved the item under: its agent's, else its own. */
  resolved_as?: string;
  /** Credential and agent whose lease was live last until it expired; missing or null: none, or it was given back. */
  last_holder?: { credential: string; agent: string } | null;
  /** Releases since the last change of status (contract 20, leases: after 3 the item needs a person). */
  release_count?: number;
  /** Hash of credential and agent → the time until which `action=next` skips the item for this holder, RFC 3339. */
  passed?: { [holder: string]: string };
  /** SHA-256 of ended claim tokens, newest last, with the reason. */
  ended_leases?: { token_hash: string; why: LeaseEnd; reason?: string }[];
  /** Leases that ran out since a person last had the item (contract 20: after 5 it needs a person). */
  expired_count: number;
  /**
   * Raised when another item is linked to this one as a duplicate, and before its blockers are looked at; missing:
   * never. A change that was planned on an older number is planned again.
   */
  links?: number;
  /** 0 low … 3 critical: what the severity sort reads. */
  severity_rank: number;
  /** The highest urgency that an occurrence's error_level has asked for. */
  level_rank: number;
  /** The kind of occurrences that are counted without a look at the item (`getItemBlindKind`). */
  [BLIND_KIND]: string | null;
  /** Order of `action=next`; present while the item may be handed out. */
  queue_key: string | null;
  /** `<project> <version>` while a publish may close the item. */
  build_key: string | null;
  /** Title, message, class, file and transaction in lower case, for `q` (search-text.ts). */
  search_text: string;
  /** Occurrences per minute (`m<minute since 1970>`, the last hour) and per hour (`h…`, the last two days). */
  minutes: { [minute: string]: number };
  hours: { [hour: string]: number };
  /**
   * Occurrences per day (`d<day since 1970>`, UTC, the last month), rolled up from the hours; missing on young items.
   */
  days?: { [day: string]: number };
  /** References of reports that were counted and whose `refs` document is not finished yet. */
  inflight: { [ref: string]: number };
  /**
   * Who created the item. The history entry is made from this field with the item's next change, or when the history is
   * read; from then on the field is missing.
   */
  [UNFILED_CREATION]?: string;
  /** The same for a claim by `action=next`: the entry's id, and who claimed. */
  [UNFILED_CLAIM]?: { id: string; actor: string };
  outbox: ItemOutboxEntry[];
  /** Changes with every entry that joins the outbox; null when the outbox is empty. */
  outbox_at: string | null;
  /** Events emitted in this cycle; `created` is emitted once in the item's life. */
  sent: { created: boolean; critical: boolean; resolved: boolean };
  /** The sampling window: hits before it, and when it began. */
  sample_base: number;
  sample_from: string;
  /** The project's overflow item (intake/placing.ts). */
  overflow?: true;
  /** How many people its reports named, about; missing: none did. */
  people?: number;
  /** Who they are, as lib/text/distinct-sketch.ts keeps them; missing: none. */
  people_sketch?: string;
  /** The people of its duplicates, who count for it as long as these are its duplicates; missing: none. */
  people_merged?: string;
  /** Occurrences were split off, so the slots of the kept ones have gaps; missing: never. */
  parted?: true;
  /** The history entry of the last split by occurrence; missing: there was none, or by an earlier version. */
  parted_by?: string;
  /** The item that this one was split off from. */
  split_from?: string;
  /** Occurrences of unknown keys that the flood rule led here; missing: none. */
  flooded?: number;
  /** `first_build` and `last_build` with the build number that their reporter stated apart. */
  first_numbered?: string;
  last_numbered?: string;
  /**
   * `<project> <version>` (`buildKey`) of the new group or regression, and the time since when it counts as it does
   * (version-faults.ts).
   */
  fault_key?: string;
  fault_at?: string;
  /**
   * All reports of the fault came with intake keys: `n` networks, each as a keyed hash. Missing: a token confirmed it.
   */
  public_fault?: { networks: readonly string[]; n: number };
  /** The act of publishing that closed the item (`PublishedBuild.publication`). */
  closed_by?: string;
  /** `<rule> <minute>` of the last `error.rate_exceeded`; missing while it is armed (alarms.ts). */
  alarm?: string;
}

export interface TextsDoc {
  /** The item's id. */
  id: string;
  description: string | null;
  error_message: string | null;
  stack_trace: string | null;
}

/** Reports of a divided key that count under a key of their own. */
export interface KeyPart {
  /** The derived key; the item that it leads to is found as for every key. */
  key: string;
  by: Difference;
}

export interface KeyDoc {
  /** Hash of project and key. */
  id: string;
  project: string;
  key: string;
  /** The item that the key belongs to, also while this item is a duplicate. */
  item_id: string;
  /** The item that counts for the key while its own item is a duplicate; missing otherwise. */
  counts_at?: string;
  /** Parts of its reports that were split off and have keys of their own (splitting/); the first that fits decides. */
  divided?: KeyPart[];
  /** How a key that is not the first report's came to its item: by the flood rule, by class and message, or late. */
  came?: 'flood' | 'joined' | 'rewritten';
  /** The grouping rule that made it; missing: none did. */
  rule_id?: string;
  /** Origin and masked message that made it, cut; missing: a fingerprint or an earlier version made it. */
  made_of?: { origin: string; masked: string };
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

/** Times of new items of one project, type, class and origin (contract 21, flood). */
export interface FloodDoc {
  /** Hash of project and source. */
  id: string;
  /** Times of the latest items, oldest first; as many as the rule asks for. */
  made_at: string[];
  /** Coarse keys of the first items, and the items; deleted ones too (groups/floods.ts). */
  [COARSE_KEYS]?: { key: string; item: string }[];
}

export interface RefDoc {
  /** Hash of project and client_ref. */
  id: string;
  project: string;
  item_id: string;
  /** Present until the item is known to hold the count. */
  open_at: string | null;
  /** Null for an item's own reference; 30 days for an occurrence's. */
  expires_at: string | null;
}

/** Bytes of a comment's body (contract 20, endpoints). */
export const MAX_COMMENT_LENGTH = 16_384;

export interface CommentDoc {
  id: string;
  item_id: string;
  body: string;
  author: string;
  /** Absent in what versions up to 0.1 stored: it counts as an integration's. */
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
  /** `<date> <new|resolved|regressed> <project>`; only entries that the statistics count have it. */
  stat?: string;
}

/**
 * A published release, as items name it in `resolved_in_build`: one document per version of a project, and one per
 * build name of a version.
 */
export interface BuildDoc {
  /** Hash of project and canonical version, or of these and the build name. */
  id: string;
  project: string;
  version: string;
  /** The canonical spelling of the version; missing in documents from before this field. */
  version_key?: string;
  /** The build name given at publishing. */
  build: string | null;
  /** The key of the look-up by build name; absent without one. */
  build_key?: string;
  /** The last act of publishing that named itself. */
  publication?: string;
  /** When it was published first, on whatever platform. */
  published_at: string;
}
