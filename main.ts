/**
 * The composition root: configuration → adapters → kernel → plugins. With `composition/`, whose files each make one
 * part, it alone may import everything, and it alone chooses adapters.
 */
import 'reflect-metadata';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { JOBS_COLLECTION, AgendaJobs } from './adapters/agenda/jobs.js';
import { FsManual } from './adapters/fs/manual.js';
import { MemoryReleaseStore } from './adapters/memory/release-store.js';
import { MemoryStore } from './adapters/memory/store.js';
import { Peers } from './adapters/mongodb/peers.js';
import { DataCipher } from './adapters/node/cipher.js';
import { SystemClock } from './adapters/node/clock.js';
import { freeBytes } from './adapters/node/free-bytes.js';
import { ThreadHasher } from './adapters/node/hasher.js';
import { RandomIds } from './adapters/node/ids.js';
import { InstanceLock } from './adapters/node/instance-lock.js';
import { KeyRings } from './adapters/node/keys/key-rings.js';
import { checkFingerprints, KEYS_COLLECTION, type ServiceKeys } from './adapters/node/keys/keys.js';
import { PinoLogger } from './adapters/node/logger.js';
import { PrometheusMetrics } from './adapters/node/metrics.js';
import { NodeOutbound } from './adapters/node/outbound.js';
import { NodeReach } from './adapters/node/reach/reach.js';
import { processMetrics } from './adapters/node/process-metrics.js';
import { HostProcesses } from './adapters/node/processes.js';
import { StoreFaultLog } from './adapters/node/store-fault-log.js';
import { UnlistedProxies } from './adapters/node/unlisted-proxies.js';
import { ChildProcessSourceMaps } from './adapters/sourcemaps/source-maps.js';
import { refuseHalfImported } from './adapters/archive/moving/import.js';
import { Announcement } from './composition/announcement.js';
import { backupsOf } from './composition/backups.js';
import { BUILTIN } from './composition/builtin.js';
import { prepare } from './composition/first-start.js';
import { NO_KEYS } from './composition/keys.js';
import { announced, installersOf, placeInstallers, releasesOn } from './composition/releases.js';
import { PluginStatesFile } from './composition/plugin-states.js';
import { folderOf, listenUrl } from './composition/places.js';
import { connectionEars, storeOf } from './composition/store.js';
import { toldBySetting } from './composition/start-fault.js';
import { webServer } from './composition/web-server.js';
import { loadConfig, packageRoot, type Configuration, type Core } from './config/load.js';
import { coreKeys } from './config/schema.js';
import type { AppSettings } from './kernel/contract.js';
import { Kernel, type KernelBootOptions, type Mode } from './kernel/kernel.js';
import { within } from './kernel/timeout.js';
import { replaceFile } from './lib/files/replace-file.js';
import { RepeatedLines } from './lib/text/repeated-lines.js';
import { FIRST_START } from './ports/domain/access.js';
import type { DocumentStore } from './ports/store.js';

export type { RotatedKey } from './adapters/node/keys/key-ring.js';
export type { ServiceKeys } from './adapters/node/keys/keys.js';
export { freeBytes } from './adapters/node/free-bytes.js';
export { newestBackupOf } from './composition/backups.js';
export { BUILTIN } from './composition/builtin.js';
export { MemoryStore } from './adapters/memory/store.js';
export { fingerprintsFit, keysOf, NO_KEYS } from './composition/keys.js';
export {
  accessModeOf,
  inMongo,
  installersOf,
  releaseFoldersIn,
  releasesFolder,
  releasesOn,
} from './composition/releases.js';
export { NoStore, requireStore } from './composition/require-store.js';
export { storeOf } from './composition/store.js';
export { recordThrown } from './kernel/loading/thrown.js';
export { readRunningPluginStates } from './composition/plugin-states.js';
export { unlistedProxiesOf } from './composition/web-server.js';

/** For one plugin's import, setup, start or stop. */
const PLUGIN_TIMEOUT_MS = 30_000;
/** For what the kernel does not close itself, after a failed start. */
const CLOSE_MS = 1_000;

export interface Service {
  readonly config: Core;
  readonly origin: Configuration['origin'];
  readonly kernel: Kernel;
  readonly store: DocumentStore;
  readonly jobs: AgendaJobs;
  /** The keys that sign, to rotate them. */
  readonly keys: KeyRings;
  /**
   * Starts the kernel. In `serve` mode the embedded store is locked for this process, and `server.json` is written. A
   * failed start has closed what it had opened when its error comes out, or a few seconds have passed.
   */
  boot(options?: KernelBootOptions): Promise<Started>;
  /**
   * Fails the plugin whose code threw outside of every call (`recordThrown` before there is a service).
   * @returns false when the service cannot go on
   */
  survive(error: unknown): boolean;
  /** Stops what `boot` started; once. */
  stop(): Promise<void>;
  /** Resolves when the store was silent for so long that only a new process can help (contract 95, a bad day). */
  readonly lost: Promise<void>;
}

export interface Started {
  /** Where it listens; null when it does not. */
  address: string | null;
  firstAdmin: FirstAdmin | null;
}

/** The account that an empty user table got; `password` only when it was made up. */
export interface FirstAdmin {
  username: string;
  password: string | null;
}

export async function version(): Promise<string> {
  const text = await readFile(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** What a service is built from instead of what the configuration names. */
export interface Given {
  configuration?: Configuration;
  /** With them the data directory is left alone, and the store's fingerprints are not compared. */
  keys?: ServiceKeys;
  store?: DocumentStore;
  /** Of the embedded store (`SqliteOptions`): false for a command, which keeps nobody waiting. */
  threads?: boolean;
  /** Standard output belongs to the answer of `--json`. */
  logTo?: 'stdout' | 'stderr';
  /** Of bcrypt, for new passwords: a test of something else does without the quarter of a second of each. */
  passwordCost?: number;
}

/** A service on an empty store in memory, which touches nothing outside: to see its plugins and their commands. */
export function blueprint(given: Pick<Given, 'configuration'> = {}): Promise<Service> {
  return compose('command', { ...given, keys: NO_KEYS, store: new MemoryStore() });
}

/** The sections of the plugins, judged without a store. @throws ConfigError, PluginFaults */
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
 * @throws ConfigError, KeyError: one line that says what is wrong and where it came from
 */
export async function compose(mode: Mode, given: Given = {}): Promise<Service> {
  const configuration = given.configuration ?? (await loadConfig());
  const config = configuration.core;
  const shared = config.storage.engine === 'mongodb';
  const keys = given.keys ?? (await toldBySetting(configuration, () => prepare(mode, configuration, judgePlugins)));
  // A command prints its own answer on stdout; the log's lines would be mixed into it.
  const lines = PinoLogger.create({
    level: mode === 'command' ? 'silent' : config.log.level,
    ...(given.logTo === 'stderr' && { destination: 'stderr' }),
  });
  const clock = new SystemClock();
  const faults = new RepeatedLines(() => clock.monotonic());
  const log = new StoreFaultLog(lines, faults);
  const installers = installersOf(configuration);
  if (mode === 'serve') {
    for (const { name, meant } of configuration.misspelt) log.warn({}, `${name} sets nothing: was ${meant} meant?`);
    for (const name of configuration.unknown) log.warn({}, `${name} is no setting of the service`);
  }
  if (keys.created.length > 0) log.info({ created: keys.created }, 'created keys in the data directory');

  const ids = new RandomIds(clock);
  const metrics = new PrometheusMetrics();
  if (mode === 'serve') processMetrics(metrics, Date.now() - process.uptime() * 1000);
  const hasher = new ThreadHasher({ cost: given.passwordCost });
  const sourceMaps = new ChildProcessSourceMaps();
  let giveUp = (): void => undefined;
  const lost = new Promise<void>((resolve) => (giveUp = resolve));
  const ears = shared ? connectionEars(lines, metrics, clock, giveUp) : {};
  const store = given.store ?? (await toldBySetting(configuration, () => storeOf(config, ears, given.threads)));
  const releaseStore =
    given.keys === undefined ? await releasesOn(configuration, log, ears.further) : new MemoryReleaseStore();
  const jobs = new AgendaJobs({ store, clock, ids, log, metrics, faults });
  const { host, port, base_url } = config.server;
  // A command's links and DSNs lead to the server beside it, whose port may be one that it picked.
  const beside = mode === 'command' ? await InstanceLock.running(config.data_dir) : null;
  const app: AppSettings = {
    version: await version(),
    base_url: base_url ?? beside?.url ?? listenUrl(host, port),
    timezone: config.app.timezone,
    debug: config.app.debug,
    shared_key: config.security.shared_key,
    webhook_key: config.security.webhook_key,
    limits: { ...config.limits },
    grouping: { ...config.grouping },
  };
  const unlisted = new UnlistedProxies(given.keys === undefined ? config.data_dir : null, clock, log);
  const fleet = shared && mode === 'serve' ? new Peers({ store, clock, ids, log, version: app.version }) : null;
  const peers = (): number => fleet?.count ?? 1;
  const cipher = new DataCipher(keys.data);
  const { release_private_key, security } = config;
  const rings = new KeyRings(keys, { release_private_key, license_key: security.license_key }, config.data_dir, {
    store,
    cipher,
    clock,
    log,
  });
  const checkStore = async (): Promise<void> => {
    await refuseHalfImported(store);
    if (shared) await checkFingerprints(store, keys, () => clock.iso());
    if (mode === 'serve') await rings.checkOwnKeys();
  };
  const web = { app, clock, ids, log, lines, metrics, unlisted, peers };
  const http = mode === 'serve' ? await webServer(config, join(import.meta.dirname, 'web'), web) : null;
  const kernel = new Kernel({
    config: {
      app,
      auto_migrate: config.storage.auto_migrate,
      plugin_timeout_ms: PLUGIN_TIMEOUT_MS,
      sections: configuration.sections,
      origin: (key) => configuration.origin(key),
      reserved: [...coreKeys],
      off: config.plugins_off,
    },
    store,
    jobs,
    clock,
    ids,
    log,
    hasher,
    metrics,
    ...(http !== null && { http }),
    cipher,
    outbound: new NodeOutbound(),
    reach: new NodeReach(),
    processes: new HostProcesses(),
    releaseStore,
    installers,
    manual: new FsManual(join(packageRoot(), 'docs')),
    signers: rings,
    sourceMaps,
    backups: backupsOf(configuration, keys, app.version),
    builtin: BUILTIN,
    builtinTested: true,
    plugins: config.plugins,
    bases: [folderOf(configuration.origin('plugins')), process.cwd(), packageRoot()],
    collections: [JOBS_COLLECTION, KEYS_COLLECTION],
    freeBytes: () => freeBytes(config.data_dir),
    unlistedProxies: () => unlisted.list(),
    peers,
    pluginFailed: () => isListening && void pluginStates.write(),
    ...(given.keys === undefined ? { checkStore } : {}),
  });

  const serverFile = join(config.data_dir, 'server.json');
  let lock: InstanceLock | null = null;
  const announcement = new Announcement(
    (url) => lock?.announce(url) ?? replaceFile(serverFile, `${JSON.stringify({ pid: process.pid, url })}\n`),
    log,
  );
  const pluginStates = new PluginStatesFile(config.data_dir, () => kernel.system.plugins(), log);
  let isListening = false;
  let stopping: Promise<void> | undefined;
  let placing: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await fleet?.stop();
    await kernel.stop();
    await releaseStore.close();
    await unlisted.flush();
    await placing;
    await Promise.all([hasher.close(), sourceMaps.close()]);
    await announcement.stop();
    if (lock) await lock.release();
    else if ((await InstanceLock.running(config.data_dir))?.pid === process.pid) await rm(serverFile, { force: true });
    await lines.flush();
  };

  const stopOnce = (): Promise<void> => (stopping ??= stop());
  const boot = async (options: KernelBootOptions): Promise<Started> => {
    const { data_dir, storage } = config;
    if (mode === 'serve' && storage.file !== null) lock = await InstanceLock.acquire(data_dir, storage.file);
    const places = mode === 'serve' && given.keys === undefined && (await announced(installers, log));
    const { address } = await kernel.boot(mode, options);
    if (mode !== 'serve') return { address, firstAdmin: null };
    await fleet?.start();
    if (places) placing = placeInstallers(installers, log);
    if (base_url === null && address !== null) app.base_url = address;
    const firstAdmin = (await kernel.service(FIRST_START)?.ensureAdmin()) ?? null;
    if (address === null) return { address, firstAdmin };
    isListening = true;
    await pluginStates.write();
    await announcement.tell(address);
    return { address, firstAdmin };
  };
  return {
    config,
    kernel,
    store,
    jobs,
    keys: rings,
    origin: (key) => configuration.origin(key),
    boot: (options = {}) =>
      toldBySetting(configuration, () => boot(options)).catch(async (error: unknown) => {
        // The kernel has closed what it could; a part that hangs must not hide the reason.
        await within(CLOSE_MS, 'closing after a failed start', stopOnce).catch((err: unknown) =>
          log.error({ err }, 'what the failed start had opened did not close'),
        );
        throw error;
      }),
    stop: stopOnce,
    survive: (error) => kernel.survive(error),
    lost,
  };
}
