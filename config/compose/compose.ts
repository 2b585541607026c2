/**
 * The composition root: configuration → adapters → kernel → plugins. Only it and `composition/` may
 * import everything and choose adapters.
 */
import 'reflect-metadata';
import { join } from 'node:path';
import type { AgendaJobs } from '../../adapters/agenda/jobs.js';
import { MemoryStore } from '../../adapters/memory/store.js';
import { Peers } from '../../adapters/mongodb/peers.js';
import type { KeyRings } from '../../adapters/node/keys/key-rings.js';
import { UnlistedProxies } from '../../adapters/node/unlisted-proxies.js';
import { makeAppSettings } from './app-settings.js';
import { prepare } from './first-start.js';
import { makeKernel } from './kernel.js';
import { NO_KEYS } from './keys.js';
import { Lifecycle, type Started } from './lifecycle.js';
import { logSetup, makeLogging } from './logging.js';
import { makeMetrics, makePorts } from './ports.js';
import { makeSetup, type Given } from './setup.js';
import { toldBySetting } from './start-fault.js';
import { makeStores } from './stores.js';
import { webServer } from './web-server.js';
import { loadConfig, type Configuration, type Core } from '../load.js';
import type { Kernel, KernelBootOptions, Mode } from '../../kernel/kernel.js';
import type { DocumentStore } from '../../ports/store.js';

export type { RotatedKey } from '../../adapters/node/keys/key-ring.js';
export type { ServiceKeys } from '../../adapters/node/keys/keys.js';
export { freeBytes } from '../../adapters/node/free-bytes.js';
export { newestBackupOf } from './backups.js';
export { BUILTIN } from './builtin.js';
export { MemoryStore } from '../../adapters/memory/store.js';
export { fingerprintsFit, keysOf, NO_KEYS } from './keys.js';
export { accessModeOf, inMongo, installersOf, releaseFoldersIn, releasesFolder, releasesOn } from './releases.js';
export { NoStore, requireStore } from './require-store.js';
export { storeOf } from './store.js';
export { version } from './app-settings.js';
export type { FirstAdmin, Started } from './lifecycle.js';
export type { Given } from './setup.js';
export { recordThrown } from '../../kernel/loading/thrown.js';
export { readRunningPluginStates } from './plugin-states.js';
export { unlistedProxiesOf } from './web-server.js';

export interface Service {
  readonly config: Core;
  readonly origin: Configuration['origin'];
  readonly kernel: Kernel;
  readonly store: DocumentStore;
  readonly jobs: AgendaJobs;
  readonly keys: KeyRings;
  /**
   * Starts the kernel. In `serve` mode the embedded store is locked for this process, and
   * `server.json` is written. A failed start closes what it opened before it rejects, or after a
   * few seconds.
   */
  boot(options?: KernelBootOptions): Promise<Started>;
  /**
   * Fails the plugin whose code threw outside of a call (`recordEarlyError` before the service
   * exists).
   * @returns false when the service cannot continue
   */
  survive(error: unknown): boolean;
  stop(): Promise<void>;
  /**
   * Resolves when the store was unreachable for so long that only a restart can help (contract 95,
   * a bad day).
   */
  readonly lost: Promise<void>;
}

/**
 * Composes a service on an empty in-memory store without side effects, to inspect plugins and
 * commands.
 */
export function blueprint(given: Pick<Given, 'configuration'> = {}): Promise<Service> {
  return compose('command', { ...given, keys: NO_KEYS, store: new MemoryStore() });
}

/**
 * Validates the plugins' sections without a store.
 * @throws ConfigError, PluginFaults
 */
async function judgePlugins(configuration: Configuration): Promise<void> {
  const trial = await blueprint({ configuration });
  try {
    await trial.kernel.examine();
  } finally {
    await trial.stop();
  }
}

/**
 * Builds the service without starting it.
 * @throws ConfigError, KeyError with one line: the problem and its source
 */
export async function compose(mode: Mode, given: Given = {}): Promise<Service> {
  const configuration = given.configuration ?? (await loadConfig());
  const keys = given.keys ?? (await toldBySetting(configuration, () => prepare(mode, configuration, judgePlugins)));
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

  const unlisted = new UnlistedProxies(usesDataDirectory ? config.data_dir : null, clock, log);
  const fleet = isShared && mode === 'serve' ? new Peers({ store, clock, ids, log, version: app.version }) : null;
  const peers = (): number => fleet?.count ?? 1;
  const web = { app, clock, ids, log, lines, metrics, unlisted, peers };
  const http =
    mode === 'serve' ? await webServer(config, join(import.meta.dirname, '..', '..', 'web'), web) : undefined;

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
    survive: (error) => kernel.survive(error),
    lost,
  };
}
