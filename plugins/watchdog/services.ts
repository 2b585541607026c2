import type { Clock, Instances, PluginContext } from '../../kernel/contract.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { ProjectDirectory, SellerBrands } from '../../ports/domain/projects.js';
import type { Authenticator } from '../../ports/http.js';
import { DEPS, type WatchdogDeps } from './deps.js';
import { Evaluator } from './evaluator/evaluator.js';
import { Outages } from './evaluator/outages.js';
import { EvaluatorRuns } from './evaluator/runs.js';
import { GroupStates } from './groups/group-states.js';
import { MonitorCheckIns } from './heartbeat/check-ins.js';
import { HeartbeatIntake } from './heartbeat/intake.js';
import { Histories } from './metrics/history.js';
import { MetricSeries } from './metrics/series.js';
import { ImportedAddresses } from './importing/addresses.js';
import { Importer } from './importing/importer.js';
import { Incidents } from './incidents/incidents.js';
import { MaintenanceWindows } from './maintenance/windows.js';
import { Adoption } from './monitors/adoption.js';
import { Conditions } from './monitors/conditions.js';
import { Ancestry } from './tree/ancestry.js';
import { Monitors } from './monitors/monitors.js';
import { ProbedMonitors } from './monitors/probed.js';
import { MonitorSnapshots } from './monitors/snapshot.js';
import { MonitorStatus } from './monitors/status.js';
import { MonitorOutbox } from './timeline/outbox.js';
import { DownExplanations } from './why/explanation.js';
import { Timeline } from './timeline/timeline.js';

const SERVICES = {
  adoption: Adoption,
  ancestry: Ancestry,
  conditions: Conditions,
  outbox: MonitorOutbox,
  outages: Outages,
  runs: EvaluatorRuns,
  series: MetricSeries,
  groups: GroupStates,
  intake: HeartbeatIntake,
  checkIns: MonitorCheckIns,
  evaluator: Evaluator,
  monitors: Monitors,
  probed: ProbedMonitors,
  timeline: Timeline,
  histories: Histories,
  status: MonitorStatus,
  snapshots: MonitorSnapshots,
  windows: MaintenanceWindows,
  incidents: Incidents,
  addresses: ImportedAddresses,
  importer: Importer,
  explanations: DownExplanations,
};

interface Outside {
  audit: Pick<AuditLog, 'record'>;
  tokens: WatchdogDeps['tokens'];
  projects: Pick<ProjectDirectory, 'list'>;
  authenticator: Authenticator;
  probes: WatchdogDeps['probes'];
  clock: Clock;
  /** `server.base_url`; with port 0 it is known only after the server listens. */
  baseUrl: () => string;
  brands: Pick<SellerBrands, 'of'>;
  timezone: string;
  beats: () => void;
}

export type WatchdogServices = Instances<typeof SERVICES> & Outside;

export function buildServices(
  scope: Pick<PluginContext, 'bind' | 'services'>,
  deps: WatchdogDeps,
  more: Pick<Outside, 'authenticator' | 'baseUrl' | 'beats' | 'brands' | 'timezone'>,
): WatchdogServices {
  scope.bind(DEPS, deps);
  const { audit, tokens, clock, probes, projects } = deps;
  return { ...scope.services(SERVICES), audit, tokens, projects, probes, clock, ...more };
}
