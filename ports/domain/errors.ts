/**
 * What the error stream offers the others: its way in, for plugins that take reports in other people's formats
 * (contract 21). Cutting, ignore rules, scrubbing, grouping and counting are done behind it, alike for every way in.
 */
import type { Json } from '../store.js';
import { token } from '../token.js';
import type { ErrorLevel, GroupMember, ItemStatus, Severity } from './bugs.js';
import type { LateFrames } from './frames.js';

/** One runtime error, well-typed; what is longer than its limit is cut. Blank text is none. */
export interface ErrorReport {
  project: string;
  error_level: ErrorLevel;
  /** May be empty beside an `exception_class`. */
  error_message: string;
  /** What the message was made from, without its values: grouping masks it in place of the message. */
  message_template?: string | null;
  /** The members of an exception group that has several; their classes and places are part of the grouping key. */
  members?: readonly GroupMember[] | null;
  exception_class?: string | null;
  file?: string | null;
  /** The function in `file`, where the reporter states both: grouping takes both for the origin. */
  function?: string | null;
  line?: number | null;
  stack_trace?: string | null;
  /** Frames that could not be rewritten in time. */
  late?: LateFrames | null;
  environment?: string | null;
  app_version?: string | null;
  /** Numeric build metadata that `app_version` does not hold: `388` of `shop@1.4.2+388`. */
  build_number?: string | null;
  commit_sha?: string | null;
  repo_url?: string | null;
  host?: string | null;
  /** Who had the error. Never stored: a keyed hash of it is counted. */
  user?: { id?: string | number | null } | null;
  /** RFC 3339; the receive time when absent or later. */
  occurred_at?: string | null;
  /** RFC 3339: when the sender sent it, by its own clock. It corrects `occurred_at` where it is over a minute off. */
  sent_at?: string | null;
  /** Unique per project, at most 200 characters: a repeat counts nothing. */
  client_ref?: string | null;
  tags?: string[] | null;
  /** Replaces the grouping; `{{ default }}` is the default grouping. */
  fingerprint?: string[] | null;
}

export interface ErrorDetails {
  context: { [key: string]: Json } | null;
  breadcrumbs: Json[] | null;
}

/** Who reports; the caller has checked already that it may. */
export interface ErrorSender {
  /** A token's id. */
  id: string;
  /** The token's name, which history shows. */
  name: string;
  source: 'app' | 'sdk';
  /** Where from; for a group that only intake keys report, two addresses count (contract 40, staged rollout). */
  address: string;
  /** It is a public intake key: what it may learn and do is bounded. */
  intake?: boolean;
}

/**
 * What an intake key learns of its report: nothing of the item but its name (contract 21, answer).
 */
export interface PublicAnswer {
  id: string;
  ref: string;
  created: boolean;
  ignored: boolean;
  /** Counted in the project's overflow item. */
  overflow: boolean;
  /** Made from the report itself. */
  title: string;
  sampled: boolean;
  /** Fields that were longer than their limit, as the caller named them. */
  truncated: string[];
}

/** What a report with a token is answered with (contract 21, answer). */
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
  /** Fields that were longer than their limit, as the caller named them. */
  truncated: string[];
}

/** What a user of an application says: about an error, or of their own accord. */
export interface FeedbackReport {
  project: string;
  /** At most 200 characters: a repeat adds nothing. */
  id: string;
  /** `client_ref` of the error that it is about. */
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
   * Adds the feedback as a comment to the item that counted its error; without one it becomes a bug.
   * @throws ServiceError unknown_project
   */
  feedback(given: FeedbackReport, sender: ErrorSender): Promise<void>;
  /**
   * Cuts, groups, counts and stores one report; resolves after the commit.
   * @param details called only where the payload is kept; `truncated` does not name what is cut of them
   * @throws ServiceError unknown_project, validation_failed (neither message nor class)
   */
  record(report: ErrorReport, sender: ErrorSender, details?: () => ErrorDetails): Promise<ErrorAnswer | PublicAnswer>;
  /**
   * The same for a report whose trace is text: frames of minified scripts are rewritten before it is grouped, as in the
   * reports of the service's own interface.
   */
  recordText(
    report: ErrorReport,
    sender: ErrorSender,
    details: () => ErrorDetails,
  ): Promise<ErrorAnswer | PublicAnswer>;
  /** A report was refused on its way here: counted for `GET /metrics`. */
  refused(source: 'app' | 'sdk'): void;
}

export const ERROR_INTAKE = token<ErrorIntake>('errorstream.intake');
