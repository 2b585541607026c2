/** The bug tracker (contracts 20 and 21). */
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
  event_ref: string;
  client_ref: string;
  intake_key: string | null;
  text: string;
}

/** A published release. */
export interface PublishedBuild {
  version: string;
  build: string | null;
  /** Kept when a publish is retried after a crash. */
  publication?: string;
}

/** Options of recording a report. */
export interface RecordOptions {
  /** Includes the item's long texts, at the cost of a read. */
  texts?: boolean;
  /** Called only for stored payloads, rare in a storm. */
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
  /** Records the reports in order; a rejected one does not affect the others. */
  recordAll(reports: readonly BatchReport[]): Promise<PromiseSettledResult<ReportResult>[]>;
  /** Counts a rejected report for `GET /metrics`. */
  countRejection(source: Report['source']): void;
  /**
   * Adds feedback as a comment to the item that counted the error, waiting for the error if
   * unknown.
   * @returns false when no item accepts it
   */
  addFeedback(given: UserFeedback): Promise<boolean>;
  /** @throws the signal's reason between batches */
  unmuteByRule(ruleId: string, signal?: AbortSignal): Promise<number>;
  /**
   * Stores a published release, closes the items that wait for it and returns their ids, oldest
   * first. Repeats with the same `publication` return all ids it closed, so that a publish can
   * resume after a crash.
   */
  recordRelease(project: string, release: PublishedBuild): Promise<string[]>;
  listRefs(ids: readonly string[]): Promise<string[]>;
  /** Stops a version from closing items until it is published again. */
  withdrawRelease(project: string, version: string): Promise<void>;
}

export const BUGS = token<BugsApi>('bugs.api');

/** A comment that a plugin adds to an item. */
export interface PluginComment {
  /** At most 16,384 characters. */
  body: string;
  /** Idempotency key per item; also holds after a crash. */
  key: string;
  /** History shows `Ada (plugin:oncall)`; at most 100 characters. */
  actor?: string | null;
}

/**
 * Item access for plugins without permission checks. `untrusted_fields` names an item's external
 * texts.
 */
export interface TrackedItems {
  /** Finds an item by ref or id, with its long texts. */
  get(item: string): Promise<Item | null>;
  /**
   * Adds a comment once per key; resolves after the commit.
   * @throws ServiceError not_found, validation_failed (empty, too long, or contains a live token)
   */
  comment(item: string, comment: PluginComment): Promise<{ id: string; created: boolean }>;
  /**
   * Marks an item as fixed; with `build` it closes once that is published. Closed items, and those
   * resolved with this build, stay unchanged.
   * @throws ServiceError not_found, already_claimed (an agent holds it), invalid_transition (won't
   *   fix, duplicate), validation_failed
   */
  resolve(item: string, how?: { build?: string | null; comment?: string | null; actor?: string | null }): Promise<Item>;
  /**
   * Links a commit or pull request to an item; one that `fixes` it resolves it, but an item held by
   * an agent only by a pull request. Resolves after the commit.
   * @throws ServiceError not_found
   */
  linkChange(item: string, change: ForgeChange): Promise<LinkOutcome>;
  /**
   * Applies a pull request's state to the items it fixes: a merge resolves them, closing it
   * unmerged reopens waiting ones.
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

/** Mutes errors by a plugin's rules. */
/** Where a rule is shown, and until when it mutes. */
export interface RulePage {
  name: string;
  href: string;
  /** RFC 3339; null: without end. */
  expires_at: string | null;
}

export interface ReportFilter {
  /** Returns the first matching rule; synchronously null when none can match. */
  findMute(report: Report): Mute | null | Promise<Mute | null>;
  /**
   * Resolves after the commit. Ignores rules of other filters.
   * @param at RFC 3339
   */
  recordHit(ruleId: string, at: string): Promise<void>;
  /** `since`: last change of the rule, RFC 3339. */
  listAlarmRules(): Promise<readonly { rule_id: string; threshold: number; since: string }[]>;
  /** Null for another filter's rule. */
  findRulePage(ruleId: string): Promise<RulePage | null>;
}

export const REPORT_FILTERS = extensionPoint<ReportFilter>('bugs.report_filters');

/** An action of another plugin on an item's page. */
export interface ItemAction {
  label: string;
  icon: string;
  shortcut?: string;
  href(item: Item): string | null;
  /** Mutes similar items. */
  mutes?: true;
}

/** Form that mutes one item, of the bugs plugin: posts `like` (its ref), `expires` and `reason`. */
export const MUTE_FORM = {
  action: '/bugs/mute',
  /** Days. */
  spans: [
    { value: '1', label: '24 hours' },
    { value: '7', label: '1 week' },
    { value: '30', label: '30 days' },
  ],
} as const;

/** The tabs of the issue list; errors have a page with more about them. */
const ISSUE_LISTS = [
  { label: 'All', href: '/bugs' },
  { label: 'Errors', href: '/errors' },
  { label: 'Bugs', href: '/bugs?type=bug&status=open&muted=false' },
  { label: 'Features', href: '/bugs?type=feature&status=open&muted=false' },
] as const;

export const listIssueTabs = (
  current: (typeof ISSUE_LISTS)[number]['label'],
): { label: string; href: string; current: boolean }[] =>
  ISSUE_LISTS.map(({ label, href }) => ({ label, href, current: label === current }));

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
  /** @param project null: all projects */
  countGroups(project: string | null): Promise<number>;
  countMuted(ruleId: string): Promise<number>;
  /**
   * Oldest first; with `newest`, last seen first, which may skip groups that change meanwhile.
   * @param after the last page's `next`
   */
  listGroups(query: {
    project?: string | null;
    muted_by?: string;
    newest?: boolean;
    limit: number;
    after?: string | null;
  }): Promise<{ items: MutableErrorGroup[]; next: string | null }>;
  /** @returns false when already muted or missing */
  mute(id: string, mute: Mute): Promise<boolean>;
  /** @returns false unless this rule mutes it */
  unmute(id: string, ruleId: string): Promise<boolean>;
  updateReason(id: string, mute: Mute): Promise<void>;
}

export const GROUP_MUTER = token<GroupMuter>('bugs.muting');

/** An error group in the error stream; long texts are null. */
export interface ErrorGroup extends Item {
  trend: number[];
  /** RFC 3339, for an item that a user has muted; null for one that a rule mutes. */
  muted_until: string | null;
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

/** Filter name → value → matches; zero is absent. */
export type FilterCounts = Record<string, Record<string, number>>;

/** A changed group. `fits`: it still matches the query. */
export type ChangedGroup = ErrorGroup & { fits: boolean };

export interface ErrorTrafficQuery {
  /** Null for all. */
  project: string | null;
  /** End in ms since 1970, rounded up to ten minutes. */
  until: number;
  hours: number;
}

export interface ErrorTraffic {
  /** Start of the first interval, ms since 1970. */
  from: number;
  /** Length of an interval in ms. */
  step: number;
  counts: number[];
  total: number;
  /** Estimate; whole hours. */
  users: number;
}

/** Reads the error stream of all projects. Callers check permissions. */
export interface ErrorGroups {
  /** @throws InvalidCursor */
  list(query: ErrorGroupQuery): Promise<ReadablePage<ErrorGroup>>;
  /** Some seconds old; null when it takes too long. */
  count(query: ErrorGroupQuery): Promise<number | null>;
  /** Each field ignores its own filter; null as for `count`. */
  getFilterCounts(query: ErrorGroupQuery): Promise<FilterCounts | null>;
  /**
   * Counts errors that are not muted by ten minutes, from counters; the running interval last.
   */
  getTraffic(query: ErrorTrafficQuery): Promise<ErrorTraffic>;
  /**
   * Lists up to 100 groups changed since a mark, oldest first, including those that no longer
   * match; groups may repeat.
   * @param since RFC 3339; null: returns only a mark
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
  /** Distinct networks (/24 of IPv4, /48 of IPv6), at most 50. */
  networks: number;
  reports: number;
}

export interface VersionFaults {
  /**
   * @param since RFC 3339
   * @param version in any spelling of contract 40's grammar
   */
  count(project: string, version: string, since: string, evidence: PublicEvidence): Promise<number>;
  /** Most events first. */
  list(
    project: string,
    version: string,
    since: string,
    evidence: PublicEvidence,
    limit: number,
  ): Promise<VersionItem[]>;
}

/** An item in a release's lists. */
export type VersionItem = Pick<
  Item,
  'id' | 'ref' | 'title' | 'type' | 'status' | 'severity' | 'hit_count' | 'people' | 'last_seen_at'
>;

/** Items that a version fixes: it is their fix version, or its publish closed them. */
export interface VersionFixes {
  /** Most events first. `total` counts all. */
  list(project: string, version: string, limit: number): Promise<{ items: VersionItem[]; total: number }>;
}

export const VERSION_FIXES = token<VersionFixes>('bugs.version_fixes');

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
