/** Items of the bug tracker and the reports that make them (contracts 20 and 21), as plugins see them. */
import type { Json } from '../store.js';
import type { PullRequestState } from './forge-changes.js';
import type { LateFrames } from './frames.js';

export type ItemType = 'bug' | 'feature' | 'error';
export type Severity = 'critical' | 'high' | 'medium' | 'low';
export type ItemStatus = 'open' | 'in_progress' | 'needs_info' | 'resolved' | 'closed' | 'wont_fix' | 'duplicate';
export type ErrorLevel = 'fatal' | 'error' | 'warning';

/** One exception of a group of several. */
export interface GroupMember {
  exception_class: string | null;
  file: string | null;
  function: string | null;
}

/** One report, validated, cut to its limits and scrubbed by the plugin that took it in. */
export interface Report {
  type: ItemType;
  project: string;
  title: string;
  severity: Severity;
  source: 'agent' | 'app' | 'ui' | 'sdk';
  /** Who reported: a token's id, or `user:` and an account's. */
  reported_by: string;
  /** The name that history shows of them; absent: `reported_by`. */
  reporter?: string;
  description?: string | null;
  error_message?: string | null;
  exception_class?: string | null;
  error_level?: ErrorLevel | null;
  environment?: string | null;
  client_ref?: string | null;
  repo_url?: string | null;
  commit_sha?: string | null;
  pr_url?: string | null;
  file_path?: string | null;
  /** The function in `file_path`, where the reporter states both: part of the origin, and not stored. */
  function_name?: string | null;
  line_no?: number | null;
  stack_trace?: string | null;
  /** Frames that source maps could not rewrite in time. */
  late?: LateFrames | null;
  /** Masked in place of the message, and not stored. */
  message_template?: string | null;
  /** The members of an exception group that has several; their classes and places are part of the grouping key. */
  members?: readonly GroupMember[] | null;
  push_id?: string | null;
  target_agent?: string | null;
  tags?: readonly string[];
  app_version?: string | null;
  /** Numeric build metadata that `app_version` does not hold; compared where the versions are equal. */
  build_number?: string | null;
  resolved_in_build?: string | null;
  fingerprint?: readonly string[] | null;
  host?: string | null;
  /** When it happened, at most the receive time. */
  occurred_at?: string | null;
  /**
   * Id of the public intake key that it came with; null: a secret credential. Reports with a
   * public key have their own `client_ref` space and their own budget of new groups.
   */
  intake_key?: string | null;
  /** Who had the error, as the application names them. Never stored: a keyed hash of it is counted (`Item.people`). */
  user?: string | null;
  /**
   * The sender's address. Never stored: while a group waits for a second sender, a keyed hash of it is
   * (`VersionFaults`).
   */
  address?: string | null;
  /** An ignore rule matched: recorded and counted, muted. Left out: the bug tracker asks the ignore rules. */
  muted_by?: Mute | null;
}

/** What only the payload of a report shows. */
export interface Details {
  context: Json;
  breadcrumbs: Json;
}

/** The ignore rule that mutes an occurrence (contract 21, ignore rules). */
export interface Mute {
  rule_id: string;
  reason: string;
  /** Occurrences in the rolling hour above which `error.rate_exceeded` is sent; null: never. */
  alarm_threshold?: number | null;
}

/**
 * What became of a report. `item` has the fields of contract 20, item fields; its long texts (description,
 * error_message, stack_trace) are null unless they were asked for.
 */
export interface Recorded {
  id: string;
  ref: string;
  created: boolean;
  /** A known grouping key or feature title; not a repeat of a `client_ref`. */
  deduplicated: boolean;
  /** The `client_ref` was known: nothing was counted. */
  repeated: boolean;
  dedup_key: string;
  hit_count: number;
  hour_count: number;
  regression: boolean;
  /** The occurrence's payload was kept. */
  sampled: boolean;
  /** The report's own title, as it was stored or would have been. */
  title: string;
  /** Counted in the project's overflow item: the intake key made too many new groups within the hour. */
  overflow: boolean;
  /** The ignore rule that matched this report, also where it is the repeat of another. */
  ignored_by: string | null;
  /** Of the item that it was counted in. */
  group: Pick<Item, 'title' | 'severity' | 'status'>;
  item: Item;
}

export interface Claim {
  agent: string;
  claimed_at: string;
  expires_at: string;
  renewals: number;
  /** What the holder says of its progress; missing: nothing. Text from outside. */
  note?: string;
  /** Tokens of a language model that it has used so far, as it says. */
  tokens?: number;
}

/** An item as the API shows it (contract 20, item fields). */
export interface Item {
  id: string;
  ref: string;
  type: ItemType;
  project: string;
  title: string;
  description: string | null;
  error_message: string | null;
  stack_trace: string | null;
  exception_class: string | null;
  error_level: ErrorLevel | null;
  severity: Severity;
  urgency: Severity;
  environment: string | null;
  client_ref: string | null;
  repo_url: string | null;
  commit_sha: string | null;
  /** The fix's commit; `commit_sha` is the one that failed. */
  fix_commit: string | null;
  /** http or https. */
  pr_url: string | null;
  /** State of that pull request, as the forge, the agent or a person says; null: nobody has. */
  pr_state: PullRequestState | null;
  /** `open`: resolved, and it waits for the merge of its pull request; otherwise what became of that. */
  review: 'open' | 'merged' | 'closed' | null;
  file_path: string | null;
  line_no: number | null;
  push_id: string | null;
  target_agent: string | null;
  /** Name of the account of the person who has the item. */
  assignee: string | null;
  tags: string[];
  app_version: string | null;
  resolved_in_build: string | null;
  dedup_key: string;
  status: ItemStatus;
  duplicate_of: string | null;
  reason: string | null;
  /** A person has stopped the work on it: no agent may claim it. */
  hold: boolean;
  hold_reason: string | null;
  /** An unfinished item blocks it: `action=next` does not hand it out. */
  blocked: boolean;
  muted: boolean;
  muted_reason: string | null;
  muted_by_rule_id: string | null;
  hit_count: number;
  hour_count: number;
  /** How many different users its reports named, about: exact for few. Null: no report named one. */
  people: number | null;
  first_seen_at: string;
  last_seen_at: string;
  first_build: string | null;
  last_build: string | null;
  regression: boolean;
  regression_count: number;
  regressed_at: string | null;
  regressed_in_build: string | null;
  late_count: number;
  /** Occurrences whose message differs in words with digits, led here by the flood rule (contract 21, flood). */
  flooded_count: number;
  severity_locked: boolean;
  /** Never the claim token. A lease that has run out is null here. */
  claim: Claim | null;
  claim_count: number;
  source: 'agent' | 'app' | 'ui' | 'sdk';
  created_at: string;
  updated_at: string;
  reopened_at: string | null;
  resolved_at: string | null;
  closed_at: string | null;
  rev: number;
  untrusted_fields: string[];
}
