/** The dependencies of this plugin's services, bound as one value that a test can replace. */
import { token } from '../../kernel/contract.js';
import type { AccountDirectory } from '../../ports/domain/access.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { LiveTokens } from '../../ports/domain/live-tokens.js';
import type { ReportFilter, VersionFaultWatcher } from '../../ports/domain/bugs.js';
import type { PullRequests } from '../../ports/domain/forge-changes.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Collection, Transact } from '../../ports/store.js';
import type { GroupingSettings } from './grouping/settings.js';
import type { RuleListDoc, RuleRevisionDoc } from './grouping/grouping-rule.js';
import type {
  ActivityDoc,
  BuildDoc,
  CommentDoc,
  FamilyDoc,
  FloodDoc,
  ItemDoc,
  KeyDoc,
  RefDoc,
  TextsDoc,
} from './item/model.js';
import type { StoredOccurrence } from './item/occurrence-documents.js';
import type {
  BulkRunDoc,
  CommitsDoc,
  CounterDoc,
  LinkDoc,
  MoveDoc,
  RemovalDoc,
  SavedViewDoc,
  SplitDoc,
  WaitingDoc,
  WordsDoc,
} from './item/work-documents.js';
import type { ReportMetrics } from './report-metrics.js';

export interface BugsConfig {
  hour_high: number;
  hour_critical: number;
  /** How far behind now a delta query's `server_time` stays (contract 00, lists). */
  delta_margin_seconds: number;
  /** Lifetime of the token in a request for an agent. */
  agent_token_seconds: number;
  /** Most live leases of one credential and agent. */
  max_claims: number;
  /** Ended items that were not seen for this time are deleted; null: never. */
  retention_days: number | null;
}

export interface BugDeps {
  items: Collection<ItemDoc>;
  texts: Collection<TextsDoc>;
  words: Collection<WordsDoc>;
  keys: Collection<KeyDoc>;
  families: Collection<FamilyDoc>;
  floods: Collection<FloodDoc>;
  removals: Collection<RemovalDoc>;
  refs: Collection<RefDoc>;
  occurrences: Collection<StoredOccurrence>;
  comments: Collection<CommentDoc>;
  activity: Collection<ActivityDoc>;
  counters: Collection<CounterDoc>;
  links: Collection<LinkDoc>;
  moves: Collection<MoveDoc>;
  splits: Collection<SplitDoc>;
  views: Collection<SavedViewDoc>;
  bulks: Collection<BulkRunDoc>;
  waiting: Collection<WaitingDoc>;
  /** The grouping rules of each project. */
  ruleLists: Collection<RuleListDoc>;
  ruleRevisions: Collection<RuleRevisionDoc>;
  /** Transactions over these collections, by their names in the manifest; null where the store has none. */
  transact: Transact | null;
  clock: Clock;
  ids: Ids;
  log: Logger;
  config: BugsConfig;
  /** `limits.new_groups_per_hour`; 0: no limit. */
  new_groups_per_hour: number;
  /** Processes that share the limit, this one included. */
  peers: () => number;
  /** The section `grouping` of the configuration. */
  grouping: GroupingSettings;
  projects: ProjectDirectory;
  accounts: AccountDirectory;
  liveTokens: LiveTokens;
  builds: Collection<BuildDoc>;
  commits: Collection<CommitsDoc>;
  /** Filters that mute occurrences. */
  filters: () => readonly ReportFilter[];
  /** Sources of news about pull requests. */
  pullRequests: () => readonly PullRequests[];
  /** Called at once when a fault of a version begins to count. */
  faultWatchers: () => readonly VersionFaultWatcher[];
  /** Key of the hashes of senders' addresses. */
  senderKey: Buffer;
  /** Key of the hashes of people. */
  peopleKey: Buffer;
  /** Undefined while no plugin provides an audit log. */
  audit: () => AuditLog | undefined;
  emit: (
    event: string,
    data: object,
    options: { id: string; timestamp: string; project_slug: string },
  ) => Promise<boolean>;
  /** A number 0 ≤ x < 1. */
  random: () => number;
  reports: ReportMetrics;
}

export const DEPS = token<BugDeps>('bugs.deps');
