import type { Clock, Instances, PluginContext } from '../../kernel/contract.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { ProjectDirectory, SellerBrands } from '../../ports/domain/projects.js';
import type { Authenticator } from '../../ports/http.js';
import { DEPS, type WatchdogDeps } from './deps.js';
import { MonitorEvaluator } from './evaluator/evaluator.js';
import { OutageRecorder } from './evaluator/outages.js';
import { EvaluatorRunService } from './evaluator/runs.js';
import { GroupStateService } from './groups/group-states.js';
import { MonitorCheckInService } from './heartbeat/check-ins.js';
import { HeartbeatIntake } from './heartbeat/intake.js';
import { MetricHistoryService } from './metrics/history.js';
import { MetricSeriesReader } from './metrics/series.js';
import { ImportedAddressStore } from './importing/addresses.js';
import { MonitorImporter } from './importing/importer.js';
import { IncidentService } from './incidents/incidents.js';
import { MaintenanceWindowService } from './maintenance/windows.js';
import { VersionAdoptionService } from './monitors/adoption.js';
import { MonitorConditionReader } from './monitors/conditions.js';
import { AncestryLoader } from './tree/ancestry.js';
import { MonitorService } from './monitors/monitors.js';
import { ProbedMonitorService } from './monitors/probed.js';
import { MonitorSnapshotService } from './monitors/snapshot.js';
import { MonitorStatusService } from './monitors/status.js';
import { MonitorOutbox } from './timeline/outbox.js';
import { DownExplanationService } from './why/explanation.js';
import { TimelineService } from './timeline/timeline.js';

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
  /** `server.base_url`; with port 0 it is known only after the server listens. */
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
  scope.bind(DEPS, deps);
  const { audit, tokens, clock, probes, projects } = deps;
  return { ...scope.services(SERVICE_CLASSES), audit, tokens, projects, probes, clock, ...more };
}
