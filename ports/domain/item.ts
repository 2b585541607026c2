/** Items of the bug tracker and the reports that create them (contracts 20 and 21). */
import type { Json } from '../store/index.js';
import type { PullRequestState } from './forge-changes.js';
import type { UnmappedFrames } from './frame-rewriting.js';

export type ItemType = 'bug' | 'feature' | 'error';
export type Severity = 'critical' | 'high' | 'medium' | 'low';
export type ItemStatus = 'open' | 'in_progress' | 'needs_info' | 'resolved' | 'closed' | 'wont_fix' | 'duplicate';
export type ErrorLevel = 'fatal' | 'error' | 'warning';

/** A member of an exception group. */
export interface GroupMember {
  exception_class: string | null;
  file: string | null;
  function: string | null;
}

/** A report after validation, truncation and scrubbing by its intake. */
export interface Report {
  type: ItemType;
  project: string;
  title: string;
  severity: Severity;
  source: 'agent' | 'app' | 'ui' | 'sdk';
  /** Token id, or `user:` and an account id. */
  reported_by: string;
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
  /** With `file_path`, part of the origin. Not stored. */
  function_name?: string | null;
  line_no?: number | null;
  stack_trace?: string | null;
  late?: UnmappedFrames | null;
  /** Masked instead of the message. Not stored. */
  message_template?: string | null;
  members?: readonly GroupMember[] | null;
  push_id?: string | null;
  target_agent?: string | null;
  tags?: readonly string[];
  app_version?: string | null;
  /** Numeric build metadata missing from `app_version`; compared between equal versions. */
  build_number?: string | null;
  resolved_in_build?: string | null;
  fingerprint?: readonly string[] | null;
  host?: string | null;
  /** At most the receive time. */
  occurred_at?: string | null;
  /**
   * Null when it was sent with a secret credential. Public keys have a separate `client_ref` space
   * and budget of new groups.
   */
  intake_key?: string | null;
  /** Not stored; a keyed hash is counted (`Item.people`). */
  user?: string | null;
  /** Not stored; a group awaiting a second sender keeps a keyed hash (`VersionFaults`). */
  address?: string | null;
  /** Absent: evaluated by the bug tracker. */
  muted_by?: Mute | null;
}

/** Details shown only with a report's payload. */
export interface ReportDetails {
  context: Json;
  breadcrumbs: Json;
}

/** Ignore rule that mutes an occurrence (contract 21, ignore rules). */
export interface Mute {
  rule_id: string;
  reason: string;
  /** Occurrences per rolling hour above which `error.rate_exceeded` is sent; null: never. */
  alarm_threshold?: number | null;
}

/** Result of recording a report. `item` has null long texts unless requested. */
export interface ReportResult {
  id: string;
  ref: string;
  created: boolean;
  /** Matched a grouping key or feature title. */
  deduplicated: boolean;
  /** Nothing was counted. */
  repeated: boolean;
  dedup_key: string;
  hit_count: number;
  hour_count: number;
  regression: boolean;
  sampled: boolean;
  title: string;
  /** Too many new groups of the intake key this hour. */
  overflow: boolean;
  /** Also of a repeat. */
  ignored_by: string | null;
  group: Pick<Item, 'title' | 'severity' | 'status'>;
  item: Item;
}

export interface Claim {
  agent: string;
  claimed_at: string;
  expires_at: string;
  renewals: number;
  /** Progress note; external text. */
  note?: string;
  /** As reported. */
  tokens?: number;
}

/** An item in the API (contract 20, item fields). */
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
  fix_commit: string | null;
  pr_url: string | null;
  pr_state: PullRequestState | null;
  /** `open`: waiting for the merge. */
  review: 'open' | 'merged' | 'closed' | null;
  file_path: string | null;
  line_no: number | null;
  push_id: string | null;
  target_agent: string | null;
  assignee: string | null;
  tags: string[];
  app_version: string | null;
  resolved_in_build: string | null;
  dedup_key: string;
  status: ItemStatus;
  duplicate_of: string | null;
  reason: string | null;
  /** Paused by a user: agents cannot claim it. */
  hold: boolean;
  hold_reason: string | null;
  blocked: boolean;
  muted: boolean;
  muted_reason: string | null;
  muted_by_rule_id: string | null;
  hit_count: number;
  hour_count: number;
  /** Estimate, exact if small; null: none reported. */
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
  /** Merged because messages differ in words with digits (contract 21, flood). */
  flooded_count: number;
  severity_locked: boolean;
  /** Without the claim token; null after the lease expired. */
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
