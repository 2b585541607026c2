/** Error intake for external formats (contract 21). */
import type { Json } from '../store/index.js';
import { token } from '../token.js';
import type { ErrorLevel, GroupMember, ItemStatus, Severity } from './bugs.js';
import type { UnmappedFrames } from './frame-rewriting.js';

/** A typed error; long values are truncated. */
export interface ErrorReport {
  project: string;
  error_level: ErrorLevel;
  error_message: string;
  /** Without values; grouping masks it instead of the message. */
  message_template?: string | null;
  /** Their classes and locations are part of the grouping key. */
  members?: readonly GroupMember[] | null;
  exception_class?: string | null;
  file?: string | null;
  /** With `file`, the origin for grouping. */
  function?: string | null;
  line?: number | null;
  stack_trace?: string | null;
  late?: UnmappedFrames | null;
  environment?: string | null;
  app_version?: string | null;
  /** `388` of `shop@1.4.2+388`. */
  build_number?: string | null;
  commit_sha?: string | null;
  repo_url?: string | null;
  host?: string | null;
  /** Not stored; a keyed hash is counted. */
  user?: { id?: string | number | null } | null;
  /** RFC 3339; default, and maximum: the receive time. */
  occurred_at?: string | null;
  /** RFC 3339, sender's clock; corrects `occurred_at` if over a minute off. */
  sent_at?: string | null;
  /** Unique per project, at most 200 characters; repeats are not counted. */
  client_ref?: string | null;
  tags?: string[] | null;
  /** `{{ default }}` stands for the default grouping. */
  fingerprint?: string[] | null;
}

export interface ErrorDetails {
  context: { [key: string]: Json } | null;
  breadcrumbs: Json[] | null;
}

/** Sender whose permission the caller has checked. */
export interface ErrorSender {
  id: string;
  name: string;
  source: 'app' | 'sdk';
  /** Intake keys must report from two for a group to count (contract 40, staged rollout). */
  address: string;
  /** Sent with a public intake key. */
  intake?: boolean;
}

/** Response for intake keys: nothing about the item but its identity (contract 21, answer). */
export interface PublicErrorAnswer {
  id: string;
  ref: string;
  created: boolean;
  ignored: boolean;
  overflow: boolean;
  title: string;
  sampled: boolean;
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
  truncated: string[];
}

/** User feedback, about an error or unsolicited. */
export interface FeedbackReport {
  project: string;
  id: string;
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
   * Resolves after the commit.
   * @param details called only for stored payloads; not covered by `truncated`
   * @throws ServiceError unknown_project, validation_failed (neither message nor class)
   */
  record(
    report: ErrorReport,
    sender: ErrorSender,
    details?: () => ErrorDetails,
  ): Promise<ErrorAnswer | PublicErrorAnswer>;
  recordText(
    report: ErrorReport,
    sender: ErrorSender,
    details: () => ErrorDetails,
  ): Promise<ErrorAnswer | PublicErrorAnswer>;
  /** Counts a report rejected before intake. */
  countRejection(source: 'app' | 'sdk'): void;
}

export const ERROR_INTAKE = token<ErrorIntake>('errorstream.intake');
