/**
 * What the bugs plugin offers the others: one shared store of items (bugs, features, error entries) with one way in.
 * Contracts 20 and 21.
 */
import type { Json } from '../store.js';
import { event, token } from '../token.js';

export type ItemType = 'bug' | 'feature' | 'error';
export type Severity = 'critical' | 'high' | 'medium' | 'low';
export type ItemStatus = 'open' | 'in_progress' | 'needs_info' | 'resolved' | 'closed' | 'wont_fix' | 'duplicate';
export type ErrorLevel = 'fatal' | 'error' | 'warning';

/** One report, validated, cut to its limits and scrubbed by the plugin that took it in. */
export interface Report {
  type: ItemType;
  project: string;
  title: string;
  severity: Severity;
  source: 'agent' | 'app' | 'ui' | 'sdk';
  /** Who reported: a token's id or an account name. */
  reported_by: string;
  description?: string | null;
  error_message?: string | null;
  exception_class?: string | null;
  error_level?: ErrorLevel | null;
  environment?: string | null;
  client_ref?: string | null;
  repo_url?: string | null;
  commit_sha?: string | null;
  file_path?: string | null;
  line_no?: number | null;
  stack_trace?: string | null;
  push_id?: string | null;
  target_agent?: string | null;
  tags?: readonly string[];
  app_version?: string | null;
  resolved_in_build?: string | null;
  fingerprint?: readonly string[] | null;
  host?: string | null;
  /** When it happened, at most the receive time. */
  occurred_at?: string | null;
  context?: Json;
  breadcrumbs?: Json;
  /** An ignore rule matched: recorded and counted, muted. */
  muted_by?: { rule_id: string; reason: string } | null;
}

/**
 * What became of a report. `item` has the fields of contract 20, item fields; its long texts (description, error_message,
 * stack_trace) are null unless they were asked for.
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
  item: Item;
}

export interface Claim {
  agent: string;
  claimed_at: string;
  expires_at: string;
  renewals: number;
}

/** An item as the API shows it (contract 20, endpoints: "Item fields"). */
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
  hour_count: number;
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

export interface BugsApi {
  /**
   * Groups, counts and stores one report; resolves after the commit.
   * @param options `texts`: the answered item carries its long texts, which costs another read
   * @throws ServiceError unknown_project
   */
  record(report: Report, options?: { texts?: boolean }): Promise<Recorded>;
  /** Unmutes what a rule muted, in batches. Answers how many. */
  unmuteRule(ruleId: string): Promise<number>;
}

export const BUGS = token<BugsApi>('bugs.api');

/** An error group as the error stream shows it: long texts are null, and its counts per hour are with it. */
export interface ErrorGroup extends Item {
  /** Occurrences per hour, oldest first, the running hour last; 24 values. */
  trend: number[];
}

/** Repeated values are alternatives. */
export interface ErrorGroupQuery {
  project?: readonly string[];
  environment?: readonly string[];
  error_level?: readonly ErrorLevel[];
  status?: readonly ItemStatus[];
  muted?: readonly boolean[];
  q?: string;
  sort?: 'last_seen_at' | 'created_at' | 'severity' | 'hit_count';
  limit?: number;
  cursor?: string | null;
}

/** Reading the error stream: items of type `error`, all projects. For pages; callers check who asks. */
export interface ErrorGroups {
  /** Newest, gravest or most frequent first. @throws InvalidCursor */
  list(query: ErrorGroupQuery): Promise<{ items: ErrorGroup[]; next: string | null }>;
  /**
   * Occurrences per hour of all groups, oldest first, the running hour last; null before the first error. At most
   * the 1,000 groups seen last are added up; `complete` is false when there were more.
   */
  perHour(hours: number): Promise<{ counts: number[]; groups: number; complete: boolean } | null>;
}

export const ERROR_GROUPS = token<ErrorGroups>('bugs.error_groups');

/** Data of `bug.created`, `bug.critical`, `bug.resolved` and `feature.created` (contract 70, payload). */
export interface BugEvent {
  id: string;
  ref: string;
  type: ItemType;
  title: string;
  severity: Severity;
  item_status: ItemStatus;
  client_ref: string | null;
  regression: boolean;
}

export const BUG_CREATED = event<BugEvent>('bug.created');
export const BUG_CRITICAL = event<BugEvent>('bug.critical');
export const BUG_RESOLVED = event<BugEvent>('bug.resolved');
export const FEATURE_CREATED = event<BugEvent>('feature.created');
