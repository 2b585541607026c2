/** What the services of this plugin are built on. A test binds its own value in place of this one. */
import {
  token,
  type Clock,
  type Collection,
  type Ids,
  type Installers,
  type Logger,
  type PluginContext,
} from '../../kernel/contract.js';
import type { LeaseRow } from '../../lib/lease.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { LiveTokens } from '../../ports/domain/live-tokens.js';
import type { BugsApi, VersionFaults } from '../../ports/domain/bugs.js';
import type { BuildHistory } from '../../ports/domain/releases.js';
import type { ReleaseHealth } from '../../ports/domain/release-health.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { WatchdogApi } from '../../ports/domain/watchdog.js';
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
  installers: Pick<Installers, 'manifest' | 'placing'>;
  /** `server.base_url` without a final slash. */
  baseUrl: () => string;
  audit: Pick<AuditLog, 'record'>;
  liveTokens: LiveTokens;
  projects: ProjectDirectory;
  processes: Processes;
  /** Undefined where no bug tracker runs. */
  bugs: () => BugsApi | undefined;
  /** Keeps the commits of versions; undefined where no bug tracker runs. */
  history: () => BuildHistory | undefined;
  /** Undefined where no error stream runs. */
  faults: () => VersionFaults | undefined;
  /** Undefined where nobody counts sessions. */
  health: () => ReleaseHealth | undefined;
  /** Undefined where no watchdog runs. */
  watchdog: () => Pick<WatchdogApi, 'adoption'> | undefined;
  /** True when the disk has less free space than uploads have to leave. */
  short: () => boolean;
  /** `limits.package_bytes` */
  packageBytes: number;
  /** Writes a product's access files before its first package arrives (contract 40, publishing). */
  protect: (product: string) => Promise<void>;
  /** True when no other process serves this store. */
  alone: boolean;
}

export const DEPS = token<ReleaseDeps>('releases.deps');
