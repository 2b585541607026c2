import { join } from 'node:path';
import { AgendaJobs } from '../../adapters/agenda/jobs.js';
import { FsManual } from '../../adapters/fs/manual.js';
import { DataCipher } from '../../adapters/node/cipher.js';
import { ThreadHasher } from '../../adapters/node/hasher.js';
import { RandomIds } from '../../adapters/node/ids.js';
import { KeyRings } from '../../adapters/node/keys/key-rings.js';
import { PrometheusMetrics } from '../../adapters/node/metrics.js';
import { NodeOutbound } from '../../adapters/node/outbound.js';
import { registerProcessMetrics } from '../../adapters/node/process-metrics.js';
import { ThreadYamlParser } from '../../adapters/node/yaml/thread-yaml-parser.js';
import { NodeReach } from '../../adapters/node/reach/reach.js';
import { ChildProcessSourceMaps } from '../../adapters/sourcemaps/source-maps.js';
import { findPackageRoot } from '../load.js';
import type { KernelMode, SuppliedPorts } from '../../kernel/kernel.js';
import type { Metrics } from '../../ports/metrics.js';
import { createBackups } from './backups.js';
import type { LoggingServices } from './logging.js';
import { createInstallers } from './release-storage.js';
import type { Setup } from './setup.js';
import type { Stores } from './stores.js';

export function makeMetrics(mode: KernelMode): PrometheusMetrics {
  const metrics = new PrometheusMetrics();
  if (mode === 'serve') registerProcessMetrics(metrics, Date.now() - process.uptime() * 1000);
  return metrics;
}

export function makePorts(
  { configuration, config, keys, given }: Setup,
  { clock, log, faults }: LoggingServices,
  metrics: Metrics,
  { store, releaseStore }: Stores,
  version: string,
) {
  const ids = new RandomIds(clock);
  const cipher = new DataCipher(keys.data);
  const own = { release_private_key: config.release_private_key, license_key: config.security.license_key };
  return {
    clock,
    ids,
    log,
    metrics,
    cipher,
    hasher: new ThreadHasher({ cost: given.passwordCost }),
    outbound: new NodeOutbound(),
    jobs: new AgendaJobs({ store, clock, ids, log, metrics, faults }),
    reach: new NodeReach(),
    releaseStore,
    installers: createInstallers(configuration),
    manual: new FsManual(join(findPackageRoot(), 'docs')),
    signers: new KeyRings(keys, own, config.data_dir, { store, cipher, clock, log }),
    backups: createBackups(configuration, keys, version),
    sourceMaps: new ChildProcessSourceMaps(),
    yaml: new ThreadYamlParser(),
  } satisfies SuppliedPorts;
}

export type ServicePorts = ReturnType<typeof makePorts>;
