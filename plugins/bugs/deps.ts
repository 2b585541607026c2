import { token } from '../../kernel/contract/index.js';
import type { AccountDirectory } from '../../ports/domain/access.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { LiveTokenDetector } from '../../ports/domain/live-tokens.js';
import type { ReportFilter, VersionFaultListener } from '../../ports/domain/bugs.js';
import type { PullRequests } from '../../ports/domain/forge-changes.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Collection, Transact } from '../../ports/store/index.js';
import type { GroupingSettings } from './grouping/grouping-settings.js';
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
  RekeyingDoc,
  RemovalDoc,
  SavedViewDoc,
  SplitDoc,
  PendingFeedbackDoc,
  TrafficDoc,
  SearchTextDoc,
} from './item/operation-documents.js';
import type { ReportMetrics } from './report-metrics.js';

export interface BugsConfig {
  hour_high: number;
  hour_critical: number;
  /** Lag of a delta query's `server_time` (contract 00, lists). */
  delta_margin_seconds: number;
  agent_token_seconds: number;
  max_claims: number;
  /** After which ended items without new occurrences are deleted; null for never. */
  retention_days: number | null;
}

export interface BugDeps {
  items: Collection<ItemDoc>;
  texts: Collection<TextsDoc>;
  words: Collection<SearchTextDoc>;
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
  moves: Collection<RekeyingDoc>;
  splits: Collection<SplitDoc>;
  views: Collection<SavedViewDoc>;
  bulks: Collection<BulkRunDoc>;
  waiting: Collection<PendingFeedbackDoc>;
  ruleLists: Collection<RuleListDoc>;
  ruleRevisions: Collection<RuleRevisionDoc>;
  /** Null if the store has none. */
  transact: Transact | null;
  clock: Clock;
  ids: Ids;
  log: Logger;
  config: BugsConfig;
  /** 0 for no limit. */
  new_groups_per_hour: number;
  peers: () => number;
  grouping: GroupingSettings;
  projects: ProjectDirectory;
  accounts: AccountDirectory;
  liveTokens: LiveTokenDetector;
  builds: Collection<BuildDoc>;
  traffic: Collection<TrafficDoc>;
  commits: Collection<CommitsDoc>;
  filters: () => readonly ReportFilter[];
  pullRequests: () => readonly PullRequests[];
  faultWatchers: () => readonly VersionFaultListener[];
  senderKey: Buffer;
  peopleKey: Buffer;
  /** Undefined without a plugin that provides one. */
  audit: () => AuditLog | undefined;
  emit: (
    event: string,
    data: object,
    options: { id: string; timestamp: string; project_slug: string },
  ) => Promise<boolean>;
  random: () => number;
  reports: ReportMetrics;
}

export const DEPS = token<BugDeps>('bugs.deps');
