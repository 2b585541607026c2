/** The composition root; only it and `composition/` may import everything. */
import 'reflect-metadata';
import { join } from 'node:path';
import type { AgendaJobs } from '../../adapters/agenda/jobs.js';
import { MemoryStore } from '../../adapters/memory/store.js';
import { PeerCounter } from '../../adapters/mongodb/peer-counter.js';
import type { KeyRings } from '../../adapters/node/keys/key-rings.js';
import { UnlistedProxyRecorder } from '../../adapters/node/unlisted-proxies.js';
import { makeAppSettings } from './app-settings.js';
import { prepareStart } from './first-start.js';
import { makeKernel } from './kernel-factory.js';
import { PLACEHOLDER_KEYS } from './service-keys.js';
import { Lifecycle, type StartResult } from './lifecycle.js';
import { logSetup, makeLogging } from './logging.js';
import { makeMetrics, makePorts } from './ports.js';
import { makeSetup, type SetupOverrides } from './setup.js';
import { attributeToConfigKey } from './config-errors.js';
import { makeStores } from './stores.js';
import { createWebServer } from './web-server.js';
import { loadConfig, type Configuration, type ResolvedConfig } from '../load.js';
import type { Kernel, KernelBootOptions, KernelMode } from '../../kernel/kernel.js';
import type { DocumentStore } from '../../ports/store/index.js';

export type { ServiceKeys } from '../../adapters/node/keys/keys.js';
export { getFreeBytes } from '../../adapters/node/free-bytes.js';
export { findNewestBackup } from './backups.js';
export { BUILTIN } from './builtin.js';
export { verifyFingerprints, loadServiceKeys } from './service-keys.js';
export {
  getAccessMode,
  isStoredInMongo,
  createInstallers,
  listReleaseFolders,
  getReleasesFolder,
  openReleaseStore,
} from './release-storage.js';
export { isMissingStore, requireStore } from './require-store.js';
export { createStore } from './store.js';
export { readVersion } from './app-settings.js';
export type { FirstAdmin, StartResult } from './lifecycle.js';
export type { SetupOverrides } from './setup.js';
export { readRunningPluginStates } from './plugin-states.js';
export { listUnlistedProxies } from './web-server.js';

export interface Service {
  readonly config: ResolvedConfig;
  readonly origin: Configuration['origin'];
  readonly kernel: Kernel;
  readonly store: DocumentStore;
  readonly jobs: AgendaJobs;
  readonly keys: KeyRings;
  /**
   * In `serve` mode the embedded store is locked for this process, and `server.json` is written. A
   * failed start closes what it opened before it rejects, or after a few seconds.
   */
  boot(options?: KernelBootOptions): Promise<StartResult>;
  /**
   * Fails the plugin whose code threw outside of a call.
   * @returns false when the service cannot continue
   */
  handleUncaught(error: unknown): boolean;
  stop(): Promise<void>;
  readonly lost: Promise<void>;
}

/** Empty in-memory store without side effects, to inspect plugins and commands. */
export function composeInMemory(
  given: Pick<SetupOverrides, 'configuration'> = {},
  mode: KernelMode = 'command',
): Promise<Service> {
  return compose(mode, { ...given, keys: PLACEHOLDER_KEYS, store: new MemoryStore() });
}

/** @throws ConfigError, PluginFaults */
async function validatePlugins(configuration: Configuration): Promise<void> {
  const trial = await composeInMemory({ configuration });
  try {
    await trial.kernel.loadDeclarations();
  } finally {
    await trial.stop();
  }
}

/** @throws ConfigError, KeyError with one line: the problem and its source */
export async function compose(mode: KernelMode, given: SetupOverrides = {}): Promise<Service> {
  const configuration = given.configuration ?? (await loadConfig());
  const keys =
    given.keys ?? (await attributeToConfigKey(configuration, () => prepareStart(mode, configuration, validatePlugins)));
  const setup = makeSetup(mode, configuration, keys, given);
  const logging = makeLogging(setup);
  const { clock, log, lines } = logging;
  logSetup(setup, log);

  const { config, usesDataDirectory, isShared } = setup;
  const metrics = makeMetrics(mode);
  const stores = await makeStores(setup, logging, metrics);
  const { store, lost } = stores;
  const app = await makeAppSettings(setup);
  const ports = makePorts(setup, logging, metrics, stores, app.version);
  const { ids, jobs } = ports;

  const unlisted = new UnlistedProxyRecorder(usesDataDirectory ? config.data_dir : null, clock, log);
  const fleet = isShared && mode === 'serve' ? new PeerCounter({ store, clock, ids, log, version: app.version }) : null;
  const peers = (): number => fleet?.count ?? 1;
  const web = { app, clock, ids, log, lines, metrics, unlisted, peers };
  const http =
    mode === 'serve' ? await createWebServer(config, join(import.meta.dirname, '..', '..', 'web'), web) : undefined;

  const kernel = makeKernel(setup, ports, {
    app,
    store,
    ...(http && { http }),
    peers,
    unlistedProxies: () => unlisted.list(),
    pluginFailed: () => lifecycle.recordPlugins(),
  });
  const lifecycle = new Lifecycle({ setup, app, kernel, ports, lines, unlisted, fleet });
  return {
    config,
    kernel,
    store,
    jobs,
    keys: ports.signers,
    origin: (key) => configuration.origin(key),
    boot: (options) => lifecycle.boot(options),
    stop: () => lifecycle.stop(),
    handleUncaught: (error) => kernel.handleUncaught(error),
    lost,
  };
}
