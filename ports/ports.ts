import type { Cipher } from './cipher.js';
import type { Clock } from './clock.js';
import type { PasswordHasher } from './hasher.js';
import type { Ids } from './ids.js';
import type { Installers } from './installers.js';
import type { Jobs } from './jobs.js';
import type { Logger } from './logger.js';
import type { Manual } from './manual.js';
import type { Metrics } from './metrics.js';
import type { Outbound } from './outbound.js';
import type { NetworkProbe } from './network-probe.js';
import type { ReleaseStore } from './release-store.js';
import type { Signers } from './signer.js';
import type { SourceMaps } from './source-map-reader.js';
import type { Backups } from './store/backups.js';
import type { YamlParser } from './yaml-parser.js';

/** Ports of every plugin. */
export interface CorePorts {
  clock: Clock;
  ids: Ids;
  log: Logger;
  hasher: PasswordHasher;
  cipher: Cipher;
  outbound: Outbound;
  metrics: Metrics;
  jobs: Pick<Jobs, 'enqueue' | 'runNow' | 'list'>;
}

/** Ports declared in the manifest's `ports`. */
export interface DeclaredPorts {
  reach: NetworkProbe;
  releaseStore: ReleaseStore;
  installers: Installers;
  manual: Manual;
  signers: Signers;
  backups: Backups;
  sourceMaps: SourceMaps;
  yaml: YamlParser;
}

export interface Ports extends CorePorts, DeclaredPorts {}

const listKeys = <N extends string>(record: Readonly<Record<N, true>>): readonly N[] => Object.keys(record) as N[];

export const CORE_PORTS = listKeys<keyof CorePorts>({
  clock: true,
  ids: true,
  log: true,
  hasher: true,
  cipher: true,
  outbound: true,
  metrics: true,
  jobs: true,
});

export const DECLARED_PORTS = listKeys<keyof DeclaredPorts>({
  reach: true,
  releaseStore: true,
  installers: true,
  manual: true,
  signers: true,
  backups: true,
  sourceMaps: true,
  yaml: true,
});
