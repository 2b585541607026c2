import {
  token,
  type TokenValues,
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

export const DEPS = {
  releases: token<Collection<ReleaseDoc>>('releases:releases'),
  manifests: token<Collection<ManifestPart>>('releases:manifests'),
  publishes: token<Collection<PublishDoc>>('releases:publishes'),
  statements: token<Collection<StatementDoc>>('releases:statements'),
  leases: token<Collection<LeaseRow<ProcessOwner>>>('releases:leases'),
  clock: token<Clock>('releases:clock'),
  ids: token<Ids>('releases:ids'),
  log: token<Logger>('releases:log'),
  emit: token<PluginContext['emit']>('releases:emit'),
  config: token<ReleasesConfig>('releases:config'),
  store: token<ReleaseStore>('releases:store'),
  signer: token<Signer>('releases:signer'),
  installers: token<Pick<Installers, 'readManifest' | 'getPendingManifest'>>('releases:installers'),
  baseUrl: token<() => string>('releases:baseUrl'),
  audit: token<Pick<AuditLog, 'record' | 'listByTarget'>>('releases:audit'),
  liveTokens: token<LiveTokenDetector>('releases:liveTokens'),
  projects: token<ProjectDirectory>('releases:projects'),
  processes: token<Processes>('releases:processes'),
  bugs: token<() => BugsApi | undefined>('releases:bugs'),
  history: token<() => BuildHistory | undefined>('releases:history'),
  faults: token<() => VersionFaults | undefined>('releases:faults'),
  fixes: token<() => VersionFixes | undefined>('releases:fixes'),
  health: token<() => ReleaseHealth | undefined>('releases:health'),
  machines: token<() => MachineInventory | undefined>('releases:machines'),
  short: token<() => boolean>('releases:short'),
  packageBytes: token<number>('releases:packageBytes'),
  /** Before its first package arrives (contract 40, publishing). */
  protect: token<(product: string) => Promise<void>>('releases:protect'),
  alone: token<boolean>('releases:alone'),
};

export type ReleaseDeps = TokenValues<typeof DEPS>;
