import {
  token,
  type Clock,
  type Collection,
  type Ids,
  type Installers,
  type Logger,
  type PluginContext,
} from '../../kernel/contract/index.js';
import type { LeaseRow } from '../../lib/lease.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { LiveTokenDetector } from '../../ports/domain/live-tokens.js';
import type { BugsApi, VersionFaults, VersionFixes } from '../../ports/domain/bugs.js';
import type { BuildHistory } from '../../ports/domain/releases.js';
import type { ReleaseHealth } from '../../ports/domain/release-health.js';
import type { MachineInventory } from '../../ports/domain/machines/inventory.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { ProcessOwner, Processes } from '../../ports/processes.js';
import type { ReleaseStore } from '../../ports/release-store.js';
import type { Signer } from '../../ports/signer.js';
import type { ReleasesConfig } from './config.js';
import type { ManifestPart, PublishDoc, ReleaseDoc, StatementDoc } from './model.js';

export interface ReleaseDeps {
  releases: Collection<ReleaseDoc>;
  manifests: Collection<ManifestPart>;
  publishes: Collection<PublishDoc>;
  statements: Collection<StatementDoc>;
  leases: Collection<LeaseRow<ProcessOwner>>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  emit: PluginContext['emit'];
  config: ReleasesConfig;
  store: ReleaseStore;
  signer: Signer;
  installers: Pick<Installers, 'readManifest' | 'getPendingManifest'>;
  baseUrl: () => string;
  audit: Pick<AuditLog, 'record' | 'listByTarget'>;
  liveTokens: LiveTokenDetector;
  projects: ProjectDirectory;
  processes: Processes;
  bugs: () => BugsApi | undefined;
  history: () => BuildHistory | undefined;
  faults: () => VersionFaults | undefined;
  fixes: () => VersionFixes | undefined;
  health: () => ReleaseHealth | undefined;
  machines: () => MachineInventory | undefined;
  short: () => boolean;
  packageBytes: number;
  /** Before its first package arrives (contract 40, publishing). */
  protect: (product: string) => Promise<void>;
  alone: boolean;
}

export const DEPS = token<ReleaseDeps>('releases.deps');
