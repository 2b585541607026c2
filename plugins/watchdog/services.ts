import { bindAll, type Clock, type Instances, type PluginContext } from '../../kernel/contract/index.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { ProjectDirectory, SellerBrands } from '../../ports/domain/projects.js';
import type { Authenticator } from '../../ports/http/index.js';
import { DEPS, type WatchdogDeps } from './deps.js';
import { MonitorEvaluator } from './evaluator/evaluator.js';
import { OutageRecorder } from './evaluator/outages.js';
import { EvaluatorRunService } from './evaluator/runs.js';
import { GroupStateService } from './group-states.js';
import { MonitorCheckInService } from './heartbeat/check-ins.js';
import { HeartbeatIntake } from './heartbeat/heartbeat-intake.js';
import { MetricHistoryService } from './metrics/metric-history-service.js';
import { MetricSeriesReader } from './metrics/metric-series-reader.js';
import { ImportedAddressStore } from './importing/imported-address-store.js';
import { MonitorImporter } from './importing/monitor-importer.js';
import { IncidentService } from './incidents/incident-service.js';
import { MaintenanceWindowService } from './maintenance/window-service.js';
import { VersionAdoptionService } from './monitors/version-adoption.js';
import { MonitorConditionReader } from './monitors/monitor-condition-reader.js';
import { AncestryLoader } from './tree/ancestry.js';
import { MonitorService } from './monitors/monitor-service.js';
import { ProbedMonitorService } from './monitors/probed-monitor-service.js';
import { MonitorSnapshotService } from './monitors/monitor-snapshot-service.js';
import { MonitorStatusService } from './monitors/monitor-status-service.js';
import { MonitorFigureService } from './monitors/monitor-figures.js';
import { MonitorOutbox } from './timeline/monitor-outbox.js';
import { DownExplanationService } from './down-explanation-service.js';
import { TimelineService } from './timeline/timeline-service.js';

const SERVICE_CLASSES = {
  adoption: VersionAdoptionService,
  ancestry: AncestryLoader,
  conditions: MonitorConditionReader,
  outbox: MonitorOutbox,
  outages: OutageRecorder,
  runs: EvaluatorRunService,
  series: MetricSeriesReader,
  groups: GroupStateService,
  intake: HeartbeatIntake,
  checkIns: MonitorCheckInService,
  evaluator: MonitorEvaluator,
  monitors: MonitorService,
  probed: ProbedMonitorService,
  timeline: TimelineService,
  histories: MetricHistoryService,
  status: MonitorStatusService,
  figures: MonitorFigureService,
  snapshots: MonitorSnapshotService,
  windows: MaintenanceWindowService,
  incidents: IncidentService,
  addresses: ImportedAddressStore,
  importer: MonitorImporter,
  explanations: DownExplanationService,
};

interface ExternalServices {
  audit: Pick<AuditLog, 'record'>;
  tokens: WatchdogDeps['tokens'];
  projects: Pick<ProjectDirectory, 'list'>;
  authenticator: Authenticator;
  probes: WatchdogDeps['probes'];
  clock: Clock;
  /** With port 0, known only after the server listens. */
  baseUrl: () => string;
  brands: Pick<SellerBrands, 'find'>;
  timezone: string;
  beats: () => void;
}

export type WatchdogServices = Instances<typeof SERVICE_CLASSES> & ExternalServices;

export function buildServices(
  scope: Pick<PluginContext, 'bind' | 'services'>,
  deps: WatchdogDeps,
  more: Pick<ExternalServices, 'authenticator' | 'baseUrl' | 'beats' | 'brands' | 'timezone'>,
): WatchdogServices {
  bindAll(scope, DEPS, deps);
  const { audit, tokens, clock, probes, projects } = deps;
  return { ...scope.services(SERVICE_CLASSES), audit, tokens, projects, probes, clock, ...more };
}
