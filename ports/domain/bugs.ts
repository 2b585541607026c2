/**
 * The bug tracker: one store of items (bugs, features, error groups) with one intake (contracts 20
 * and 21).
 */
import { extensionPoint, token } from '../token.js';
import type { AgentRequest } from './agent-requests.js';
import type { ForgeChange, ForgeOutcome, LinkOutcome } from './forge-changes.js';
import type { ReportDetails, ErrorLevel, Item, ItemStatus, Mute, ReportResult, Report } from './item.js';
import type { ReadablePage } from '../store/skipped-documents.js';

export * from './item-events.js';
export type * from './item.js';

/** User feedback about a reported error. */
export interface UserFeedback {
  project: string;
  /** `client_ref` of the error's report. */
  event_ref: string;
  /** Idempotency key of the feedback. */
  client_ref: string;
  /** As in `Report`. */
  intake_key: string | null;
  text: string;
}

/** A published release. */
export interface PublishedBuild {
  version: string;
  /** Build name given at publishing, an alternative in `resolved_in_build`. */
  build: string | null;
  /** UUID of one publish, kept when it is retried after a crash. */
  publication?: string;
}

/** Options of recording a report. */
export interface RecordOptions {
  /** Includes long texts of the item, at the cost of a read. */
  texts?: boolean;
  /** Loads details; called only for stored payloads, rare in a storm. */
  details?: () => ReportDetails;
}

/** A report of a batch. */
export interface BatchReport extends Pick<RecordOptions, 'details'> {
  report: Report;
}

export interface BugsApi {
  /**
   * Groups, counts and stores a report; resolves after the commit.
   * @throws ServiceError unknown_project
   */
  record(report: Report, options?: RecordOptions): Promise<ReportResult>;
  /**
   * Records the reports in order, those of a group together. Returns one result per report; a
   * rejected report does not affect the others.
   */
  recordAll(reports: readonly BatchReport[]): Promise<PromiseSettledResult<ReportResult>[]>;
  /** Counts a rejected report for `GET /metrics`. */
  countRejection(source: Report['source']): void;
  /**
   * Adds feedback as a comment to the item that counted the error, waiting for the error if
   * unknown. The item with the feedback's own `client_ref` then becomes a duplicate.
   * @returns false when no item accepts it
   */
  addFeedback(given: UserFeedback): Promise<boolean>;
  /**
   * Unmutes a rule's groups in batches and returns their number.
   * @throws the signal's reason between batches
   */
  unmuteByRule(ruleId: string, signal?: AbortSignal): Promise<number>;
  /**
   * Stores a published release and closes the items that wait for its version or build name.
   * Returns their ids, oldest first. Repeats close nothing more; with the same `publication` they
   * return all ids it closed, so that a publish can resume after a crash.
   */
  recordRelease(project: string, release: PublishedBuild): Promise<string[]>;
  /** Returns the refs in the order of `ids`; deleted items are omitted. */
  listRefs(ids: readonly string[]): Promise<string[]>;
  /** Stops a version from closing items until it is published again. */
  withdrawRelease(project: string, version: string): Promise<void>;
}

export const BUGS = token<BugsApi>('bugs.api');

/** A comment that a plugin adds to an item. */
export interface PluginComment {
  /** At most 16,384 characters. */
  body: string;
  /** Idempotency key of the plugin for this item; also holds after a crash. */
  key: string;
  /** User it acts for, at most 100 characters: history shows `Ada (plugin:oncall)`. */
  actor?: string | null;
}

/**
 * Item access for plugins without permission checks; history shows `plugin:oncall`.
 * `untrusted_fields` names an item's external texts.
 */
export interface TrackedItems {
  /** Finds an item by ref or id, with its long texts; null when it does not exist. */
  get(item: string): Promise<Item | null>;
  /**
   * Adds a comment once per key; resolves after the commit.
   * @throws ServiceError not_found, validation_failed (empty, too long, or contains a live token)
   */
  comment(item: string, comment: PluginComment): Promise<{ id: string; created: boolean }>;
  /**
   * Marks an item as fixed; with `build` it closes once that is published. Items that are closed,
   * or resolved with this build, stay unchanged without the comment.
   * @throws ServiceError not_found, already_claimed (an agent holds it), invalid_transition (won't
   *   fix, duplicate), validation_failed
   */
  resolve(item: string, how?: { build?: string | null; comment?: string | null; actor?: string | null }): Promise<Item>;
  /**
   * Links a commit or pull request to an item; one that `fixes` the item resolves it with
   * `fix_commit`, if the status allows. Items held by an agent are only resolved by a pull request.
   * Resolves after the commit.
   * @throws ServiceError not_found
   */
  linkChange(item: string, change: ForgeChange): Promise<LinkOutcome>;
  /**
   * Applies a pull request's state (`PULL_REQUESTS`) to the items it fixes: a merge resolves them,
   * closing it unmerged reopens waiting ones.
   * @param actor author of the pull request
   */
  followPullRequest(
    project: string,
    url: string,
    actor: string | null,
  ): Promise<readonly { ref: string; outcome: ForgeOutcome }[]>;
  /**
   * Requests an agent: adds a history entry and emits `agent.requested`.
   * @returns false when the key was used before
   * @throws ServiceError not_found, already_claimed (an agent works on it), on_hold,
   *   invalid_transition (already decided), validation_failed
   */
  requestAgent(item: string, request: AgentRequest): Promise<boolean>;
  /**
   * Rejects texts with a live token or the claim token of a live lease.
   * @throws ServiceError validation_failed with the fields
   */
  rejectSecrets(fields: Readonly<Record<string, string | undefined>>): Promise<void>;
}

export const ITEMS = token<TrackedItems>('bugs.items');

/**
 * Mutes occurrences by a plugin's rules. Called for each report of type `error`, from every intake.
 */
/** Where a rule is shown, and until when it mutes. */
export interface RulePage {
  name: string;
  href: string;
  /** RFC 3339; null: without end. */
  expires_at: string | null;
}

export interface ReportFilter {
  /**
   * Returns the first matching rule; synchronously null when none can match.
   * @param report as it will be stored
   */
  findMute(report: Report): Mute | null | Promise<Mute | null>;
  /**
   * Counts a muted occurrence; resolves after the commit. Rules of other filters are ignored.
   * @param at RFC 3339
   */
  recordHit(ruleId: string, at: string): Promise<void>;
  /** Lists enabled rules with a threshold. `since`: last change of the rule, RFC 3339. */
  listAlarmRules(): Promise<readonly { rule_id: string; threshold: number; since: string }[]>;
  /** Returns the rule's page; null for another filter's rule. */
  findRulePage(ruleId: string): Promise<RulePage | null>;
}

/** Called in plugin order; the first match decides. */
export const REPORT_FILTERS = extensionPoint<ReportFilter>('bugs.report_filters');

/** An action of another plugin on an item's page. */
export interface ItemAction {
  label: string;
  icon: string;
  /** Keyboard shortcut, one character. */
  shortcut?: string;
  /** Returns a page path; null when not applicable. */
  href(item: Item): string | null;
  /** Quick form in the item's list row, for items that have an `href`. */
  mute?: MuteForm;
}

/** Form that mutes an item from a list, with duration and reason. */
export interface MuteForm {
  /** Path it posts to, with `like` (the item's ref), `expires` and `reason`. */
  action: string;
  spans: readonly { value: string; label: string }[];
}

export const ITEM_ACTIONS = extensionPoint<ItemAction>('bugs.item_actions');

/** Fields of an error group that ignore rules match. */
export type MutableErrorGroup = Pick<
  Item,
  | 'id'
  | 'ref'
  | 'title'
  | 'error_message'
  | 'exception_class'
  | 'project'
  | 'environment'
  | 'hit_count'
  | 'last_seen_at'
  | 'muted'
  | 'muted_by_rule_id'
>;

/** Mutes existing error groups. Callers check permissions. */
export interface GroupMuter {
  /** Counts error groups. @param project null: all projects */
  countGroups(project: string | null): Promise<number>;
  /** Counts the groups that a rule mutes. */
  countMuted(ruleId: string): Promise<number>;
  /** Lists error groups by id, oldest first. @param after the last page's `next` */
  listGroups(query: {
    project?: string | null;
    muted_by?: string;
    limit: number;
    after?: string | null;
  }): Promise<{ items: MutableErrorGroup[]; next: string | null }>;
  /** Mutes a group. @returns false when already muted or missing */
  mute(id: string, mute: Mute): Promise<boolean>;
  /** Unmutes a group. @returns false unless this rule mutes it */
  unmute(id: string, ruleId: string): Promise<boolean>;
  /** Updates the stored reason after the rule's reason changed. */
  updateReason(id: string, mute: Mute): Promise<void>;
}

export const GROUP_MUTER = token<GroupMuter>('bugs.muting');

/** An error group in the error stream: long texts are null, hourly counts are included. */
export interface ErrorGroup extends Item {
  /** 24 hourly counts, oldest first, the current hour last. */
  trend: number[];
}

/** Values of one field are alternatives. */
export interface ErrorGroupQuery {
  project?: readonly string[];
  environment?: readonly string[];
  error_level?: readonly ErrorLevel[];
  status?: readonly ItemStatus[];
  muted?: readonly boolean[];
  regression?: readonly boolean[];
  q?: string;
  sort?: 'last_seen_at' | 'created_at' | 'severity' | 'hit_count' | 'people';
  limit?: number;
  cursor?: string | null;
}

/** Filter name → value → number of matches; values with no match are absent. */
export type FilterCounts = Record<string, Record<string, number>>;

/** A changed group. `fits`: it still matches the query. */
export type ChangedGroup = ErrorGroup & { fits: boolean };

/** Reads the error stream of all projects for pages. Callers check permissions. */
export interface ErrorGroups {
  /** Lists groups by recency, severity or frequency. @throws InvalidCursor */
  list(query: ErrorGroupQuery): Promise<ReadablePage<ErrorGroup>>;
  /** Counts groups, some seconds old; null when it takes too long. */
  count(query: ErrorGroupQuery): Promise<number | null>;
  /**
   * Counts by `error_level`, `status` and `project`, each ignoring its own filter; null as for
   * `count`.
   */
  getFilterCounts(query: ErrorGroupQuery): Promise<FilterCounts | null>;
  /**
   * Returns hourly occurrences, oldest first, the current hour last; null before the first error.
   * Covers the 1,000 most recent groups; `complete`: there are no others.
   */
  getHourlyCounts(
    hours: number,
    project?: string | null,
  ): Promise<{ counts: number[]; groups: number; complete: boolean } | null>;
  /**
   * Lists up to 100 groups changed since a mark, oldest first, including those that no longer
   * match; groups may repeat.
   * @param since the previous `mark`, RFC 3339; null: returns only a mark
   */
  listChanges(query: ErrorGroupQuery, since: string | null): Promise<{ items: ChangedGroup[]; mark: string }>;
}

export const ERROR_GROUPS = token<ErrorGroups>('bugs.error_groups');

/**
 * New groups and regressions by version, which can halt a rollout (contract 40, staged rollout).
 *
 * A fault counts once a secret token, or enough intake keys (`PublicEvidence`), report it, unless
 * muted or a duplicate. An item counts for the version of its latest regression, otherwise of its
 * first report.
 */
/**
 * Evidence required from intake keys, which are public: one client alone must not halt a release.
 */
export interface PublicEvidence {
  /** Number of distinct networks (/24 of IPv4, /48 of IPv6), at most 50. */
  networks: number;
  /** Number of occurrences. */
  reports: number;
}

export interface VersionFaults {
  /**
   * Counts faults since `since` (RFC 3339).
   * @param version in any spelling of contract 40's grammar
   */
  count(project: string, version: string, since: string, evidence: PublicEvidence): Promise<number>;
}

export const VERSION_FAULTS = token<VersionFaults>('bugs.version_faults');

/**
 * Notified immediately when a fault starts to count, in the process that received the report. Other
 * processes must poll.
 */
export interface VersionFaultListener {
  /**
   * Must return immediately.
   * @param version as spelled by `normalizeVersion` (lib/versions.ts)
   */
  onFaultCounted(project: string, version: string): void;
}

export const VERSION_FAULT_LISTENERS = extensionPoint<VersionFaultListener>('bugs.version_fault_watchers');
