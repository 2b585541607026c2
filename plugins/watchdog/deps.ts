import { token } from '../../kernel/contract/index.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { LiveTokenDetector } from '../../ports/domain/live-tokens.js';
import type { AlarmReceivers } from '../../ports/domain/alarms/receivers.js';
import type { MonitorProbes } from '../../ports/domain/watchdog.js';
import type { TokenIssuer } from '../../ports/domain/tokens.js';
import type { MachineInventory } from '../../ports/domain/machines/inventory.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Processes } from '../../ports/processes.js';
import type { Collection } from '../../ports/store/index.js';
import type {
  AddressDoc,
  ChangeDoc,
  ChunkDoc,
  LeaseDoc,
  TimeMarkDoc,
  MonitorDoc,
  OutageDoc,
  RollupDoc,
  RunDoc,
  TimelineDoc,
} from './model/documents.js';
import type { IncidentDoc } from './model/incident.js';
import type { WindowDoc } from './model/maintenance-window.js';

export interface WatchdogConfig {
  scheduler: boolean;
  error_status_is_down: boolean;
  deferred_alarms: boolean;
  timeline_days: number;
  monitor_metrics: boolean;
}

export interface WatchdogDeps {
  monitors: Collection<MonitorDoc>;
  chunks: Collection<ChunkDoc>;
  rollups: Collection<RollupDoc>;
  timeline: Collection<TimelineDoc>;
  runs: Collection<RunDoc>;
  leases: Collection<LeaseDoc>;
  outages: Collection<OutageDoc>;
  marks: Collection<TimeMarkDoc>;
  windows: Collection<WindowDoc>;
  incidents: Collection<IncidentDoc>;
  changes: Collection<ChangeDoc>;
  addresses: Collection<AddressDoc>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  config: WatchdogConfig;
  /** 0 means unlimited. */
  monitorsPerToken: number;
  processes: Processes;
  tokens: Pick<TokenIssuer, 'issue' | 'list' | 'find' | 'revoke' | 'revokeBySource'>;
  liveTokens: LiveTokenDetector;
  audit: Pick<AuditLog, 'record'>;
  projects: Pick<ProjectDirectory, 'get' | 'list'>;
  probes: () => MonitorProbes | null;
  machines: () => MachineInventory | undefined;
  receivers: () => readonly AlarmReceivers[];
  /** For deletions of expired data (`ServiceRuntime.clock`). */
  isClockTrusted: () => Promise<boolean>;
  isRejectingHeartbeats: () => boolean;
  emit: (
    event: string,
    data: object,
    options: { id: string; timestamp: string; project_slug: string | null },
  ) => Promise<boolean>;
}

export const DEPS = token<WatchdogDeps>('watchdog.deps');
