import { bindAll, type Instances, type PluginContext } from '../../kernel/contract/index.js';
import { BugTrackerService } from './api.js';
import { BugsJobs } from './jobs.js';
import { ClaimableItemNotifier } from './claims/claimable-item-notifier.js';
import { HandoverBuilder } from './claims/handover.js';
import { LeaseService } from './claims/leases.js';
import { NextItemService } from './claims/next-item.js';
import { DEPS, GET_COLLECTION, type BugDeps } from './deps.js';
import { GroupingRuleCache } from './grouping-rules/rule-cache.js';
import { ReportIntake } from './intake/intake.js';
import { BulkEditService } from './editing/bulk-edits.js';
import { BulkRunService } from './editing/bulk-runs.js';
import { ItemPartService } from './lists/item-parts.js';
import { CommentService } from './editing/comments.js';
import { DeltaWatermark } from './store/delta-watermark.js';
import { ItemOutbox } from './store/item-outbox.js';
import { ItemRemovalService } from './editing/removal.js';
import { EditService } from './editing/edits.js';
import { TrackedItemsFactory } from './editing/tracked-items.js';
import { IndirectMatchService } from './store/indirect-matches.js';
import { SecretGuard } from './store/secret-guard.js';
import { AgentWorkService } from './lists/agent-work.js';
import { ErrorTrafficService } from './lists/error-traffic.js';
import { StoredOccurrenceReader } from './lists/stored-occurrences.js';
import { ItemBoard } from './lists/item-board.js';
import { ItemListService } from './lists/item-list.js';
import { SavedViewService } from './lists/saved-views.js';
import { StatsService } from './lists/item-stats.js';
import { StoredUnmappedOccurrences } from './unmapped-occurrences.js';
import { LinkService } from './links/link-service.js';
import { MergeService } from './editing/merging.js';
import { GroupingRuleService } from './regrouping/grouping-rules.js';
import { GroupReasonService } from './splitting/group-reasons.js';
import { SplitService } from './splitting/split-service.js';
import { ItemCloser } from './builds/item-closer.js';
import { CommitHistoryRepository } from './builds/commit-history.js';
import { PublishedBuildRepository } from './builds/published-builds.js';
import { VersionFixReader } from './builds/version-fixes.js';
import { VersionFaultTracker } from './builds/version-faults.js';
import { CombinedReportFilter } from './muting/report-filters.js';
import { ReleaseTimelineService } from './builds/release-timeline.js';
import { MutingService } from './muting/muting-service.js';

const SERVICE_CLASSES = {
  bugs: BugTrackerService,
  jobs: BugsJobs,
  intake: ReportIntake,
  groupingRules: GroupingRuleCache,
  leases: LeaseService,
  nextItem: NextItemService,
  arrivals: ClaimableItemNotifier,
  handovers: HandoverBuilder,
  edits: EditService,
  parts: ItemPartService,
  comments: CommentService,
  lists: ItemListService,
  board: ItemBoard,
  traffic: ErrorTrafficService,
  agentWork: AgentWorkService,
  muting: MutingService,
  outbox: ItemOutbox,
  filters: CombinedReportFilter,
  indirectMatches: IndirectMatchService,
  builds: ItemCloser,
  events: StoredOccurrenceReader,
  faults: VersionFaultTracker,
  fixes: VersionFixReader,
  history: CommitHistoryRepository,
  publishedBuilds: PublishedBuildRepository,
  timeline: ReleaseTimelineService,
  bulk: BulkEditService,
  bulkRuns: BulkRunService,
  merging: MergeService,
  late: StoredUnmappedOccurrences,
  links: LinkService,
  splitting: SplitService,
  reasons: GroupReasonService,
  regrouping: GroupingRuleService,
  removal: ItemRemovalService,
  stats: StatsService,
  views: SavedViewService,
  secrets: SecretGuard,
  tracked: TrackedItemsFactory,
  watermark: DeltaWatermark,
};

export type BugServices = Instances<typeof SERVICE_CLASSES>;

export function buildServices(scope: Pick<PluginContext, 'bind' | 'services'>, deps: BugDeps): BugServices {
  bindAll(scope, DEPS, deps);
  scope.bind(GET_COLLECTION, (name) => deps[name as 'items']);
  return scope.services(SERVICE_CLASSES);
}
