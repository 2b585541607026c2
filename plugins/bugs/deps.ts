import { token, type TokenValues } from '../../kernel/contract/index.js';
import type { AccountDirectory } from '../../ports/domain/access.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { LiveTokenDetector } from '../../ports/domain/live-tokens.js';
import type { ReportFilter, VersionFaultListener } from '../../ports/domain/bugs.js';
import type { PullRequests } from '../../ports/domain/forge-changes.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Collection, Doc, Transact } from '../../ports/store/index.js';
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

export const DEPS = {
  items: token<Collection<ItemDoc>>('bugs:items'),
  texts: token<Collection<TextsDoc>>('bugs:texts'),
  words: token<Collection<SearchTextDoc>>('bugs:words'),
  keys: token<Collection<KeyDoc>>('bugs:keys'),
  families: token<Collection<FamilyDoc>>('bugs:families'),
  floods: token<Collection<FloodDoc>>('bugs:floods'),
  removals: token<Collection<RemovalDoc>>('bugs:removals'),
  refs: token<Collection<RefDoc>>('bugs:refs'),
  occurrences: token<Collection<StoredOccurrence>>('bugs:occurrences'),
  comments: token<Collection<CommentDoc>>('bugs:comments'),
  activity: token<Collection<ActivityDoc>>('bugs:activity'),
  counters: token<Collection<CounterDoc>>('bugs:counters'),
  links: token<Collection<LinkDoc>>('bugs:links'),
  moves: token<Collection<RekeyingDoc>>('bugs:moves'),
  splits: token<Collection<SplitDoc>>('bugs:splits'),
  views: token<Collection<SavedViewDoc>>('bugs:views'),
  bulks: token<Collection<BulkRunDoc>>('bugs:bulks'),
  waiting: token<Collection<PendingFeedbackDoc>>('bugs:waiting'),
  ruleLists: token<Collection<RuleListDoc>>('bugs:ruleLists'),
  ruleRevisions: token<Collection<RuleRevisionDoc>>('bugs:ruleRevisions'),
  /** Null if the store has none. */
  transact: token<Transact | null>('bugs:transact'),
  clock: token<Clock>('bugs:clock'),
  ids: token<Ids>('bugs:ids'),
  log: token<Logger>('bugs:log'),
  config: token<BugsConfig>('bugs:config'),
  /** 0 for no limit. */
  new_groups_per_hour: token<number>('bugs:new_groups_per_hour'),
  peers: token<() => number>('bugs:peers'),
  grouping: token<GroupingSettings>('bugs:grouping'),
  projects: token<ProjectDirectory>('bugs:projects'),
  accounts: token<AccountDirectory>('bugs:accounts'),
  liveTokens: token<LiveTokenDetector>('bugs:liveTokens'),
  builds: token<Collection<BuildDoc>>('bugs:builds'),
  traffic: token<Collection<TrafficDoc>>('bugs:traffic'),
  commits: token<Collection<CommitsDoc>>('bugs:commits'),
  filters: token<() => readonly ReportFilter[]>('bugs:filters'),
  pullRequests: token<() => readonly PullRequests[]>('bugs:pullRequests'),
  faultWatchers: token<() => readonly VersionFaultListener[]>('bugs:faultWatchers'),
  senderKey: token<Buffer>('bugs:senderKey'),
  peopleKey: token<Buffer>('bugs:peopleKey'),
  /** Undefined without a plugin that provides one. */
  audit: token<() => AuditLog | undefined>('bugs:audit'),
  emit: token<
    (event: string, data: object, options: { id: string; timestamp: string; project_slug: string }) => Promise<boolean>
  >('bugs:emit'),
  random: token<() => number>('bugs:random'),
  reports: token<ReportMetrics>('bugs:reports'),
};

export type BugDeps = TokenValues<typeof DEPS>;

/** Returns a collection by the name that a write carries. */
export const GET_COLLECTION = token<(name: string) => Collection<Doc>>('bugs:getCollection');
