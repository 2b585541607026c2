import { dirname, resolve } from 'node:path';
import { JOBS_COLLECTION } from '../../adapters/agenda/jobs.js';
import { requireWholeStore } from '../../adapters/archive/transfer/import.js';
import { getFreeBytes } from '../../adapters/node/free-bytes.js';
import { checkFingerprints, KEYS_COLLECTION } from '../../adapters/node/keys/keys.js';
import { HostProcesses } from '../../adapters/node/processes.js';
import { findPackageRoot } from '../load.js';
import { coreKeys } from '../schema.js';
import type { AppSettings } from '../../kernel/contract/index.js';
import { Kernel, type KernelConfig, type KernelParts } from '../../kernel/kernel.js';
import type { DocumentStore } from '../../ports/store/index.js';
import { BUILTIN } from './builtin.js';
import type { ServicePorts } from './ports.js';
import type { Setup } from './setup.js';

const PLUGIN_TIMEOUT_MS = 30_000;

interface ServedParts extends Pick<KernelParts, 'http' | 'peers' | 'unlistedProxies' | 'pluginFailed'> {
  app: AppSettings;
  store: DocumentStore;
}

/** Returns the folder of the file that names the plugins, the base of their paths. */
function getConfigFolder(origin: string): string {
  return dirname(resolve(/^config\/(default|local)\.json$/.test(origin) ? findPackageRoot() : process.cwd(), origin));
}

export function makeKernel(setup: Setup, ports: ServicePorts, { app, ...served }: ServedParts): Kernel {
  const { configuration, config, usesDataDirectory } = setup;
  return new Kernel({
    ...ports,
    ...served,
    config: makeKernelConfig(setup, app),
    processes: new HostProcesses(),
    builtin: BUILTIN,
    builtinTested: true,
    plugins: config.plugins,
    bases: [getConfigFolder(configuration.origin('plugins')), process.cwd(), findPackageRoot()],
    collections: [JOBS_COLLECTION, KEYS_COLLECTION],
    freeBytes: () => getFreeBytes(config.data_dir),
    ...(usesDataDirectory && { checkStore: () => checkStore(setup, ports, served.store) }),
  });
}

function makeKernelConfig({ configuration, config }: Setup, app: AppSettings): KernelConfig {
  return {
    app,
    auto_migrate: config.storage.auto_migrate,
    plugin_timeout_ms: PLUGIN_TIMEOUT_MS,
    sections: configuration.sections,
    origin: (key) => configuration.origin(key),
    reserved: [...coreKeys],
    off: config.plugins_off,
  };
}

async function checkStore({ mode, keys, isShared }: Setup, ports: ServicePorts, store: DocumentStore): Promise<void> {
  await requireWholeStore(store);
  if (isShared) await checkFingerprints(store, keys, () => ports.clock.iso());
  if (mode === 'serve') await ports.signers.checkOwnKeys();
}
