import type { Instances, PluginContext } from '../../kernel/contract.js';
import { Bugs } from './api.js';
import { BugsJobs } from './jobs.js';
import { Arrivals } from './claims/arrivals.js';
import { Handovers } from './claims/handover.js';
import { Leases } from './claims/leases.js';
import { NextItem } from './claims/next.js';
import { DEPS, type BugDeps } from './deps.js';
import { GroupingRuleBook } from './grouprules/book.js';
import { ReportIntake } from './intake/intake.js';
import { Bulk } from './editing/bulk.js';
import { BulkRuns } from './editing/bulk-runs.js';
import { Parts } from './lists/parts.js';
import { Comments } from './editing/comments.js';
import { DeltaWatermark } from './store/delta-watermark.js';
import { ItemOutbox } from './store/item-outbox.js';
import { Removal } from './editing/removal.js';
import { Edits } from './editing/edits.js';
import { Tracked } from './editing/tracked.js';
import { SecretGuard } from './store/secret-guard.js';
import { Board } from './lists/board.js';
import { Lists } from './lists/lists.js';
import { SavedViews } from './lists/saved-views.js';
import { Stats } from './lists/stats.js';
import { StoredLateOccurrences } from './late/late-occurrences.js';
import { Links } from './links/links.js';
import { Merging } from './editing/merging.js';
import { GroupingRules } from './regrouping/registry.js';
import { Reasons } from './splitting/reasons.js';
import { Splitting } from './splitting/splitting.js';
import { Closing } from './builds/closing.js';
import { KeptHistory } from './builds/build-history.js';
import { KnownBuilds } from './builds/known-builds.js';
import { Faults } from './builds/version-faults.js';
import { ReportFilters } from './muting/report-filters.js';
import { ReleaseSightings } from './builds/release-sightings.js';
import { Muter } from './muting/muting.js';

const SERVICES = {
  bugs: Bugs,
  jobs: BugsJobs,
  intake: ReportIntake,
  groupingRules: GroupingRuleBook,
  leases: Leases,
  nextItem: NextItem,
  arrivals: Arrivals,
  handovers: Handovers,
  edits: Edits,
  parts: Parts,
  comments: Comments,
  lists: Lists,
  board: Board,
  muting: Muter,
  outbox: ItemOutbox,
  filters: ReportFilters,
  builds: Closing,
  faults: Faults,
  history: KeptHistory,
  publishedBuilds: KnownBuilds,
  timeline: ReleaseSightings,
  bulk: Bulk,
  bulkRuns: BulkRuns,
  merging: Merging,
  late: StoredLateOccurrences,
  links: Links,
  splitting: Splitting,
  reasons: Reasons,
  regrouping: GroupingRules,
  removal: Removal,
  stats: Stats,
  views: SavedViews,
  secrets: SecretGuard,
  tracked: Tracked,
  watermark: DeltaWatermark,
};

export type BugServices = Instances<typeof SERVICES>;

export function buildServices(scope: Pick<PluginContext, 'bind' | 'services'>, deps: BugDeps): BugServices {
  scope.bind(DEPS, deps);
  return scope.services(SERVICES);
}
