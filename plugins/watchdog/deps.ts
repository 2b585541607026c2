import { token, type TokenValues } from '../../kernel/contract/index.js';
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

export const DEPS = {
  monitors: token<Collection<MonitorDoc>>('watchdog:monitors'),
  chunks: token<Collection<ChunkDoc>>('watchdog:chunks'),
  rollups: token<Collection<RollupDoc>>('watchdog:rollups'),
  timeline: token<Collection<TimelineDoc>>('watchdog:timeline'),
  runs: token<Collection<RunDoc>>('watchdog:runs'),
  leases: token<Collection<LeaseDoc>>('watchdog:leases'),
  outages: token<Collection<OutageDoc>>('watchdog:outages'),
  marks: token<Collection<TimeMarkDoc>>('watchdog:marks'),
  windows: token<Collection<WindowDoc>>('watchdog:windows'),
  incidents: token<Collection<IncidentDoc>>('watchdog:incidents'),
  changes: token<Collection<ChangeDoc>>('watchdog:changes'),
  addresses: token<Collection<AddressDoc>>('watchdog:addresses'),
  clock: token<Clock>('watchdog:clock'),
  ids: token<Ids>('watchdog:ids'),
  log: token<Logger>('watchdog:log'),
  config: token<WatchdogConfig>('watchdog:config'),
  /** 0 means unlimited. */
  monitorsPerToken: token<number>('watchdog:monitorsPerToken'),
  processes: token<Processes>('watchdog:processes'),
  tokens: token<Pick<TokenIssuer, 'issue' | 'list' | 'find' | 'revoke' | 'revokeBySource'>>('watchdog:tokens'),
  liveTokens: token<LiveTokenDetector>('watchdog:liveTokens'),
  audit: token<Pick<AuditLog, 'record'>>('watchdog:audit'),
  projects: token<Pick<ProjectDirectory, 'get' | 'list'>>('watchdog:projects'),
  probes: token<() => MonitorProbes | null>('watchdog:probes'),
  machines: token<() => MachineInventory | undefined>('watchdog:machines'),
  receivers: token<() => readonly AlarmReceivers[]>('watchdog:receivers'),
  /** For deletions of expired data (`ServiceRuntime.clock`). */
  isClockTrusted: token<() => Promise<boolean>>('watchdog:isClockTrusted'),
  isRejectingHeartbeats: token<() => boolean>('watchdog:isRejectingHeartbeats'),
  emit: token<
    (
      event: string,
      data: object,
      options: { id: string; timestamp: string; project_slug: string | null },
    ) => Promise<boolean>
  >('watchdog:emit'),
};

export type WatchdogDeps = TokenValues<typeof DEPS>;
