/**
 * Error intake for external formats (contract 21). Truncation, ignore rules, scrubbing, grouping
 * and counting are the same for every source.
 */
import type { Json } from '../store.js';
import { token } from '../token.js';
import type { ErrorLevel, GroupMember, ItemStatus, Severity } from './bugs.js';
import type { UnmappedFrames } from './frame-rewriting.js';

/** A typed error; long values are truncated, blank text counts as missing. */
export interface ErrorReport {
  project: string;
  error_level: ErrorLevel;
  /** May be empty if `exception_class` is set. */
  error_message: string;
  /** Message template without values; grouping masks it instead of the message. */
  message_template?: string | null;
  /** Members of an exception group; their classes and locations are part of the grouping key. */
  members?: readonly GroupMember[] | null;
  exception_class?: string | null;
  file?: string | null;
  /** Function in `file`; with both, grouping uses them as the origin. */
  function?: string | null;
  line?: number | null;
  stack_trace?: string | null;
  /** Frames that source maps could not rewrite in time. */
  late?: UnmappedFrames | null;
  environment?: string | null;
  app_version?: string | null;
  /** Numeric build metadata missing from `app_version`: `388` of `shop@1.4.2+388`. */
  build_number?: string | null;
  commit_sha?: string | null;
  repo_url?: string | null;
  host?: string | null;
  /** Affected user. Not stored; a keyed hash is counted. */
  user?: { id?: string | number | null } | null;
  /** RFC 3339; replaced by the receive time when absent or later. */
  occurred_at?: string | null;
  /** Send time by the sender's clock, RFC 3339; corrects `occurred_at` if over a minute off. */
  sent_at?: string | null;
  /** Unique per project, at most 200 characters; repeats are not counted. */
  client_ref?: string | null;
  tags?: string[] | null;
  /** Custom grouping; `{{ default }}` stands for the default grouping. */
  fingerprint?: string[] | null;
}

export interface ErrorDetails {
  context: { [key: string]: Json } | null;
  breadcrumbs: Json[] | null;
}

/** Sender whose permission the caller has checked. */
export interface ErrorSender {
  /** Token id. */
  id: string;
  /** Token name, shown in history. */
  name: string;
  source: 'app' | 'sdk';
  /**
   * IP address; intake keys must report from two for a group to count (contract 40, staged
   * rollout).
   */
  address: string;
  /** Sent with a public intake key, which has limited rights. */
  intake?: boolean;
}

/** Response for intake keys: nothing about the item but its identity (contract 21, answer). */
export interface PublicErrorAnswer {
  id: string;
  ref: string;
  created: boolean;
  ignored: boolean;
  /** Counted in the project's overflow item. */
  overflow: boolean;
  /** Derived from the report itself. */
  title: string;
  sampled: boolean;
  /** Truncated fields, as the caller named them. */
  truncated: string[];
}

/** Response for reports with a token (contract 21, answer). */
export interface ErrorAnswer {
  id: string;
  ref: string;
  created: boolean;
  ignored: boolean;
  ignore_rule_id: string | null;
  dedup_key: string;
  title: string;
  severity: Severity;
  urgency: Severity;
  item_status: ItemStatus;
  hit_count: number;
  hour_count: number;
  regression: boolean;
  sampled: boolean;
  /** Truncated fields, as the caller named them. */
  truncated: string[];
}

/** User feedback, about an error or unsolicited. */
export interface FeedbackReport {
  project: string;
  /** Idempotency key, at most 200 characters. */
  id: string;
  /** `client_ref` of the error it is about. */
  event_id: string | null;
  message: string;
  name: string | null;
  email: string | null;
  url: string | null;
  environment: string | null;
  app_version: string | null;
}

export interface ErrorIntake {
  /**
   * Adds feedback to the item that counted its error, otherwise creates a bug.
   * @throws ServiceError unknown_project
   */
  recordFeedback(given: FeedbackReport, sender: ErrorSender): Promise<void>;
  /**
   * Truncates, groups, counts and stores a report; resolves after the commit.
   * @param details called only for stored payloads; not covered by `truncated`
   * @throws ServiceError unknown_project, validation_failed (neither message nor class)
   */
  record(
    report: ErrorReport,
    sender: ErrorSender,
    details?: () => ErrorDetails,
  ): Promise<ErrorAnswer | PublicErrorAnswer>;
  /**
   * Records a report whose trace is text; frames of minified scripts are rewritten before grouping.
   */
  recordText(
    report: ErrorReport,
    sender: ErrorSender,
    details: () => ErrorDetails,
  ): Promise<ErrorAnswer | PublicErrorAnswer>;
  /** Counts a report rejected before intake, for `GET /metrics`. */
  countRejection(source: 'app' | 'sdk'): void;
}

export const ERROR_INTAKE = token<ErrorIntake>('errorstream.intake');
