/**
 * What the bugs plugin offers the others: one shared store of items (bugs, features, error entries) with one way in.
 * Contracts 20 and 21.
 */
import { extensionPoint, token } from '../token.js';
import type { AgentRequest } from './agent-requests.js';
import type { ForgeChange, ForgeOutcome, LinkOutcome } from './forge-changes.js';
import type { Details, ErrorLevel, Item, ItemStatus, Mute, Recorded, Report } from './item.js';
import type { ReadablePage } from '../store/left-out.js';

export * from './item-events.js';
export type * from './item.js';

/** What a user of an application says about an error that was reported. */
export interface UserFeedback {
  project: string;
  /** `client_ref` of the error's report. */
  event_ref: string;
  /** Its own: a repeat adds nothing. */
  client_ref: string;
  /** As in `Report`. */
  intake_key: string | null;
  text: string;
}

/** A release as the bug tracker knows it. */
export interface PublishedBuild {
  version: string;
  /** The build name given at publishing, which `resolved_in_build` may name instead of the version. */
  build: string | null;
  /** Names one act of publishing, also when it is repeated after a crash: a UUID. */
  publication?: string;
}

/** What a caller may say beside the report itself. */
export interface RecordOptions {
  /** The answered item carries its long texts, which costs another read. */
  texts?: boolean;
  /** Called only where the report's payload is kept: few reports of a storm are. */
  details?: () => Details;
}

/** A report of a list. */
export interface ListedReport extends Pick<RecordOptions, 'details'> {
  report: Report;
}

export interface BugsApi {
  /**
   * Groups, counts and stores one report; resolves after the commit.
   * @throws ServiceError unknown_project
   */
  record(report: Report, options?: RecordOptions): Promise<Recorded>;
  /**
   * A list: each report as if it had come alone and in its turn, and those of one group counted together. One result
   * for each, in the list's order; a rejected one has not been recorded and stops no other.
   */
  recordAll(reports: readonly ListedReport[]): Promise<PromiseSettledResult<Recorded>[]>;
  /** A report was refused, here or on its way here: counted for `GET /metrics`. */
  refused(source: Report['source']): void;
  /**
   * Adds it as a comment to the item that counted the error; false when there is none that takes it. Where the error is
   * not known yet, it is added when that comes, and the item with the feedback's own `client_ref` becomes a duplicate.
   */
  feedback(given: UserFeedback): Promise<boolean>;
  /** Unmutes what a rule muted, in batches. Answers how many. @throws the signal's reason between two batches */
  unmuteRule(ruleId: string, signal?: AbortSignal): Promise<number>;
  /**
   * A release of the project is published: it is kept, and what waits for its version or its build name is closed.
   * Answers the ids of the items that are closed by it, oldest first. The same again closes nothing more; with the same
   * `publication` it answers the same ids, and those that were closed meanwhile: so a publish that a crash cut off
   * learns what it had closed.
   */
  releasePublished(project: string, release: PublishedBuild): Promise<string[]>;
  /** The refs of these items, in their order; those that are gone are left out. */
  refsOf(ids: readonly string[]): Promise<string[]>;
  /** No release of this version is offered any more: nothing is closed by it until it is published again. */
  releaseWithdrawn(project: string, version: string): Promise<void>;
}

export const BUGS = token<BugsApi>('bugs.api');

/** A comment of a plugin on an item. */
export interface PluginComment {
  /** At most 16,384 characters. */
  body: string;
  /** Names this comment among those of the plugin on the item: the same key again adds nothing, also after a crash. */
  key: string;
  /** For whom the plugin speaks, at most 100 characters: history then shows `Ada (plugin:oncall)`. */
  actor?: string | null;
}

/**
 * What any plugin may ask of the tracker. It may do so everywhere, as the service itself may; history shows it under
 * the plugin's name, `plugin:oncall`. Texts of an item that come from outside are named in its `untrusted_fields`.
 */
export interface TrackedItems {
  /** By ref or id, with its long texts; null when there is none. */
  get(item: string): Promise<Item | null>;
  /**
   * Adds a comment once per key; resolves after the commit.
   * @throws ServiceError not_found, validation_failed (empty, too long, or it holds a live token of this service)
   */
  comment(item: string, comment: PluginComment): Promise<{ id: string; created: boolean }>;
  /**
   * Fixed in code; with `build` it is closed when that is published, or at once when it is. An item that is resolved
   * with this build already, or closed, stays as it is, and the comment is not added.
   * @throws ServiceError not_found, already_claimed (an agent holds it), invalid_transition (won't fix, duplicate),
   *   validation_failed
   */
  resolve(item: string, how?: { build?: string | null; comment?: string | null; actor?: string | null }): Promise<Item>;
  /**
   * Links a commit or a pull request to an item, and resolves what it `fixes`, with its commit as `fix_commit`, where
   * the status allows it. An item that an agent holds is resolved by a pull request alone. Resolves after the commit.
   * @throws ServiceError not_found
   */
  linkChange(item: string, change: ForgeChange): Promise<LinkOutcome>;
  /**
   * Applies the state of a pull request, as `PULL_REQUESTS` knows it, to the items whose fix it is: merged resolves
   * them, closed without a merge opens those that waited for it.
   * @param actor whose request it is, as of a change
   */
  followPullRequest(
    project: string,
    url: string,
    actor: string | null,
  ): Promise<readonly { ref: string; outcome: ForgeOutcome }[]>;
  /**
   * Asks for an agent: a history entry, and `agent.requested`. False: this request was made before.
   * @throws ServiceError not_found, already_claimed (one works on it), on_hold, invalid_transition (it is decided),
   *   validation_failed
   */
  requestAgent(item: string, request: AgentRequest): Promise<boolean>;
  /**
   * For texts that another plugin keeps of an item: none may hold a live token, or the claim token of a live lease.
   * @throws ServiceError validation_failed with the fields
   */
  refuseSecrets(fields: Readonly<Record<string, string | undefined>>): Promise<void>;
}

export const ITEMS = token<TrackedItems>('bugs.items');

/** What mutes occurrences, by rules of its own: asked for every one of type `error`, whatever way it came in. */
export interface ReportFilter {
  /** The first rule that matches; no promise where no rule can. @param report as it will be stored */
  match(report: Report): Mute | null | Promise<Mute | null>;
  /**
   * The occurrence was counted and muted; resolves after the rule's counter is committed. The rule of another filter
   * changes nothing. @param at RFC 3339
   */
  hit(ruleId: string, at: string): Promise<void>;
  /** Enabled rules with a threshold. `since` is when the rule was changed last, RFC 3339. */
  watched(): Promise<readonly { rule_id: string; threshold: number; since: string }[]>;
  /** The path of the rule's page; null for the rule of another filter. */
  page(ruleId: string): Promise<string | null>;
}

/** Asked in the order of the plugins; the first that mutes decides. */
export const REPORT_FILTERS = extensionPoint<ReportFilter>('bugs.report_filters');

/** A link on an item's page, to what another plugin can do with it. */
export interface ItemAction {
  label: string;
  /** The name of an icon of the layout. */
  icon: string;
  /** A key that follows it, one character. */
  shortcut?: string;
  /** The path of a page; null where there is nothing to do with this item. */
  href(item: Item): string | null;
  /** The same for a while, from the item's row in a list: of items that have an `href`, which is the rest of it. */
  mute?: MuteForm;
}

/** The form of a list that mutes one of its items, how long and why. */
export interface MuteForm {
  /** The path that it is posted to, with `like` (the item's ref), `expires` and `reason`. */
  action: string;
  spans: readonly { value: string; label: string }[];
}

export const ITEM_ACTIONS = extensionPoint<ItemAction>('bugs.item_actions');

/** An error group as an ignore rule sees it. */
export type Mutable = Pick<
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

/** Muting of groups that exist already. Callers check who asks. */
export interface Muting {
  /** Error groups, all or a project's. */
  count(project: string | null): Promise<number>;
  /** Groups that a rule mutes now. */
  held(ruleId: string): Promise<number>;
  /** Error groups by id, oldest first. @param after the last page's `next` */
  page(query: {
    project?: string | null;
    muted_by?: string;
    limit: number;
    after?: string | null;
  }): Promise<{ items: Mutable[]; next: string | null }>;
  /** False when it is muted already, or gone. */
  mute(id: string, mute: Mute): Promise<boolean>;
  /** False when another rule, or none, mutes it. */
  unmute(id: string, ruleId: string): Promise<boolean>;
  /** The rule's reason was reworded. */
  reword(id: string, mute: Mute): Promise<void>;
}

export const MUTING = token<Muting>('bugs.muting');

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
  regression?: readonly boolean[];
  q?: string;
  sort?: 'last_seen_at' | 'created_at' | 'severity' | 'hit_count' | 'people';
  limit?: number;
  cursor?: string | null;
}

/** Name of a filter → value → how many a list would show with it; a value that is missing has none. */
export type FilterCounts = Record<string, Record<string, number>>;

/** A group that changed. `fits`: the query still finds it. */
export type ChangedGroup = ErrorGroup & { fits: boolean };

/** Reading the error stream: items of type `error`, all projects. For pages; callers check who asks. */
export interface ErrorGroups {
  /** Newest, gravest or most frequent first. @throws InvalidCursor */
  list(query: ErrorGroupQuery): Promise<ReadablePage<ErrorGroup>>;
  /** How many groups a list has, some seconds old at most; null when counting takes longer than a page can wait. */
  count(query: ErrorGroupQuery): Promise<number | null>;
  /** By `error_level`, `status` and `project`, each beside the others; null as for `count`. */
  filterCounts(query: ErrorGroupQuery): Promise<FilterCounts | null>;
  /**
   * Occurrences per hour of all groups, oldest first, the running hour last; null before the first error. At most
   * the 1,000 groups seen last are added up; `complete` is false when there were more.
   */
  perHour(hours: number): Promise<{ counts: number[]; groups: number; complete: boolean } | null>;
  /**
   * Groups that changed since a mark, oldest change first, those too that the query does not find any more. At most
   * 100; `mark` is for the next question, and a group may be listed twice.
   * @param since RFC 3339, a mark; null: only answers one
   */
  changes(query: ErrorGroupQuery, since: string | null): Promise<{ items: ChangedGroup[]; mark: string }>;
}

export const ERROR_GROUPS = token<ErrorGroups>('bugs.error_groups');

/**
 * New groups and regressions of the error stream, by the version that they are of (contract 40, staged rollout: what
 * halts it). One counts from when a report came by a token that is no intake key, or enough of them came with intake
 * keys (`PublicEvidence`), unless it is muted or a duplicate. An item counts for one version: that of its latest
 * regression, else of its first report.
 */
/** What reports with intake keys, which are public, must show: else one stranger could stop every release. */
export interface PublicEvidence {
  /** Different networks that they come from (/24 of IPv4, /48 of IPv6); at most 50 are told apart. */
  networks: number;
  /** Occurrences of the item. */
  reports: number;
}

export interface VersionFaults {
  /**
   * Those that began to count at `since` (RFC 3339) or later.
   * @param version of contract 40's grammar, in any spelling
   */
  count(project: string, version: string, since: string, evidence: PublicEvidence): Promise<number>;
}

export const VERSION_FAULTS = token<VersionFaults>('bugs.version_faults');

/**
 * Told at once when a fault of a version begins to count, in the process that took the report; others learn it by
 * counting.
 */
export interface VersionFaultWatcher {
  /** Returns at once. @param version as `normalizeVersion` spells it (lib/versions.ts) */
  counted(project: string, version: string): void;
}

export const VERSION_FAULT_WATCHERS = extensionPoint<VersionFaultWatcher>('bugs.version_fault_watchers');
