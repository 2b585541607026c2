/**
 * `aos doctor`: reports each fault with its fix, even if the service cannot start (contract 95,
 * command line).
 */
import type { Configuration, ResolvedConfig } from '../../../config/load.js';
import { loadConfig } from '../../../config/load.js';
import { PluginFaults } from '../../../kernel/faults.js';
import type { Composer, Composition, OwnCommand, ComposedService, LoadedKeys } from '../composition.js';
import { checkDataDirectory, checkFreeSpace, checkReleaseFolder } from '../data-directory.js';
import { tryOpenStore, verifyStore, type OpenedStore } from './store.js';
import { EXIT_CODES } from '../output.js';
import { handlePluginErrors } from '../plugin-faults.js';
import { Diagnosis, getErrorText } from './diagnosis.js';
import { describeDamageFix, describeReleaseFix, describeStoreFix, MISSING_STORE_FIX } from './store-fix.js';
import {
  readLocalHealth,
  fetchServiceHealth,
  formatHealth,
  mergeRunningStates,
  type PluginHealth,
} from './plugin-health.js';
import type { PluginState } from '../../../ports/domain/system.js';

const IMPORT_AGAIN_FIX =
  'run the import again: it clears the store and starts over; the service does not start on an incomplete import';
const CONFIG_FIX = 'fix the value at its source';

function checkNode(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) throw new Error(process.version);
  return process.version;
}

async function checkAccessFiles(
  { getAccessMode, isStoredInMongo }: Composer,
  configuration: Configuration,
): Promise<string> {
  if (isStoredInMongo(configuration)) return 'in MongoDB with the packages: only this service serves them';
  const { mode, gid } = await getAccessMode(configuration);
  if ((mode & 0o004) !== 0) throw new Error('every local user can read .htpasswd, because no group is set');
  return gid === null
    ? '.htpasswd is readable by this service only'
    : `.htpasswd is readable by this service and group ${gid}`;
}

/** Behind an untrusted proxy, all callers share one address and its limits. */
async function checkProxies({ listUnlistedProxies }: Composer, { data_dir, server }: ResolvedConfig): Promise<string> {
  const unlisted = await listUnlistedProxies(data_dir, server.trusted_proxies);
  if (unlisted.length === 0) return 'no X-Forwarded-For from unlisted proxies';
  const last = unlisted.map(({ address, last_at }) => `${address} (last at ${last_at})`).join(', ');
  throw new Error(`X-Forwarded-For was received from ${last}, not listed in server.trusted_proxies`);
}

function checkSharedKey({ security }: ResolvedConfig): string {
  const { length } = security.shared_key;
  if (length > 0 && length < 16) throw new Error(`has ${length} characters`);
  return length === 0 ? 'not set: server-to-server calls are disabled' : 'set';
}

interface InspectedService extends OpenedStore {
  plugins: PluginHealth[];
  running: readonly PluginState[] | null;
  /** Set up once, on the open store if possible, because the setup takes most of the time. */
  service: ComposedService | null;
}

/** The result does not depend on data, which no setup reads. */
async function checkPlugins(
  composer: Composer,
  configuration: Configuration,
  keys: LoadedKeys | null,
  found: InspectedService,
): Promise<{ failed: string[]; detail: string }> {
  const { store } = found;
  const outlive = handlePluginErrors();
  const service = outlive(
    await (keys === null || store === null
      ? composer.composeInMemory({ configuration })
      : composer.compose('command', { configuration, keys, store })),
  );
  await service.boot({ migrate: false }).catch(async (error: unknown) => {
    if (store !== null) Object.assign(found, await tryOpenStore(composer, configuration.core));
    throw error;
  });
  found.service = service;
  const all = found.running ?? service.kernel.system.listPlugins();
  const off = all.filter(({ state }) => state === 'off').map(({ id }) => id);
  found.plugins = await readLocalHealth(service.kernel.system, false);
  const ready = `${all.filter(({ state }) => state === 'ready').length} ready`;
  return {
    failed: all.flatMap(({ id, state, reason }) => (state === 'failed' ? [`${id}: ${reason}`] : [])),
    detail: off.length === 0 ? ready : `${ready}, disabled: ${off.join(', ')}`,
  };
}

async function checkMigrations({ kernel }: ComposedService, found: InspectedService): Promise<string> {
  const { pending } = await kernel.system.listMigrations();
  if (pending.length > 0) throw new Error(`pending: ${pending.join(', ')}`);
  found.plugins = await readLocalHealth(kernel.system, true);
  return 'none pending';
}

/** Faults in plugin sections are reported as configuration faults. */
async function examinePlugins(
  composer: Composer,
  found: Diagnosis,
  configuration: Configuration,
  keys: LoadedKeys | null,
  known: InspectedService,
): Promise<boolean> {
  const fix = 'fix the plugin that failed, or remove it from `plugins`';
  let states: { failed: string[]; detail: string };
  try {
    states = await checkPlugins(composer, configuration, keys, known);
  } catch (error) {
    if (!(error instanceof PluginFaults && error.configuration)) {
      return found.check('plugins', fix, () => {
        throw error;
      });
    }
    const at = found.items.findIndex(({ check }) => check === 'configuration');
    found.items[at] = { check: 'configuration', ok: false, detail: getErrorText(error), mend: CONFIG_FIX };
    found.skipped.push('plugins');
    return false;
  }
  await found.check('plugins', fix, () => {
    if (states.failed.length > 0) throw new Error(states.failed.join('; '));
    return states.detail;
  });
  return true;
}

async function examineStore(
  composition: Composition,
  found: Diagnosis,
  configuration: Configuration,
  keys: LoadedKeys | null,
  { runs, deep }: { runs: boolean; deep: boolean },
  known: InspectedService,
): Promise<void> {
  const { core } = configuration;
  const { findNewestBackup, isMissingStore, verifyFingerprints } = await composition.loadComposer();
  const { requireWholeStore } = await composition.loadDataTransfer();
  const newest = (): Promise<string | null> => findNewestBackup(configuration);
  const open = await found.check(
    'store',
    async (error) => (isMissingStore(error) ? MISSING_STORE_FIX : describeStoreFix(error, core, newest)),
    () => {
      // The fault that prevents the first start is already reported.
      if (known.missing && found.items.some(({ ok }) => !ok)) return 'will be created at the first start';
      return known.opened();
    },
  );
  const { store, service } = known;
  const whole =
    store === null ||
    (await found.check('import', IMPORT_AGAIN_FIX, () => requireWholeStore(store, 'no interrupted import')));
  if (!open || !whole || !runs || keys === null || service === null) {
    found.skipped.push('migrations');
  } else if (store === null) {
    await found.check('migrations', '', () => 'none pending: the store does not exist yet');
  } else {
    if (core.storage.engine === 'mongodb') {
      const same = 'provide the keys that this store was first used with';
      await found.check('fingerprints', same, () => verifyFingerprints(store, keys));
    }
    await found.check('migrations', 'run: aos migrate', () => checkMigrations(service, known));
  }
  if (deep && store !== null)
    await found.check(
      'stored data',
      () => describeDamageFix(core, newest),
      () => verifyStore(store),
    );
}

async function examineHealth(found: Diagnosis, core: ResolvedConfig, known: InspectedService): Promise<void> {
  const pluginHealth = (await fetchServiceHealth(core)) ?? mergeRunningStates(known.running, known.plugins);
  for (const plugin of pluginHealth) {
    const fix = `check its message, the service log and /system; or disable it: plugins_off: ["${plugin.id}"]`;
    await found.check(`plugin ${plugin.id}`, fix, () => {
      if (!plugin.ok) throw new Error(formatHealth(plugin));
      return formatHealth(plugin);
    });
  }
}

async function runDoctor(composition: Composition, deep: boolean): Promise<Diagnosis> {
  const composer = await composition.loadComposer();
  const found = new Diagnosis();
  await found.check('node', 'install Node 20.19 or newer', checkNode);
  const loaded: { configuration: Configuration | null; keys: LoadedKeys | null } = { configuration: null, keys: null };
  await found.check('configuration', CONFIG_FIX, async () => {
    loaded.configuration = await loadConfig();
    const [wrong] = loaded.configuration.misspelt;
    if (wrong !== undefined) throw new Error(`${wrong.name} has no effect; did you mean ${wrong.meant}?`);
    const { unknown } = loaded.configuration;
    return unknown.length === 0
      ? 'valid'
      : `valid; without effect: ${unknown.join(', ')} (not settings of the service)`;
  });
  const { configuration } = loaded;
  if (configuration === null) {
    found.skipped.push(
      'data directory',
      'disk',
      'shared key',
      'keys',
      'update agents',
      'access files',
      'release store',
      'proxies',
      'plugins',
      'store',
      'migrations',
    );
    return found;
  }
  const { core } = configuration;
  const own = async (error: unknown): Promise<string> =>
    getErrorText(error).includes('EROFS')
      ? `the disk of ${core.data_dir} is not writable: check the kernel log for the cause, and remount it writable`
      : `make ${core.data_dir} a folder that only this user can read and write`;
  await found.check('data directory', own, () => checkDataDirectory(core.data_dir));
  await found.check('disk', 'free some space: the store stops accepting writes when the disk is full', () =>
    checkFreeSpace(composer, core.data_dir),
  );
  await found.check('shared key', 'set SVC_SHARED_KEY to at least 32 random characters, or leave it empty', () =>
    checkSharedKey(core),
  );
  await found.check('keys', 'provide readable keys', async () => {
    loaded.keys = await composer.loadServiceKeys(core, false);
    return 'usable';
  });
  await found.check(
    'update agents',
    'delete installer/installer.json in the data directory, and start again',
    async () => {
      const built = await composer.createInstallers(configuration).readManifest();
      if (built !== null) return `${built.version}: ${built.files.map(({ runtime }) => runtime).join(', ')}`;
      return 'none, so machines cannot download one: run npm run build:agent, then start the service';
    },
  );
  await found.check(
    'access files',
    'set releases.web_group to the group of the web server in front of it, and run the service as a member of that group',
    () => checkAccessFiles(composer, configuration),
  );
  await found.check(
    'release store',
    (thrown) => Promise.resolve(describeReleaseFix(thrown, core)),
    () => checkReleaseFolder(composer, composer.getReleasesFolder(configuration), core.data_dir),
  );
  await found.check(
    'proxies',
    'if these are your proxies, add them to server.trusted_proxies: until then, all clients behind a proxy share its rate limits. If not, an untrusted client sends the header, and it is ignored',
    () => checkProxies(composer, core),
  );
  const running = await composer.readRunningPluginStates(core.data_dir);
  const known: InspectedService = { plugins: [], running, service: null, ...(await tryOpenStore(composer, core)) };
  try {
    const runs = await examinePlugins(composer, found, configuration, loaded.keys, known);
    await examineStore(composition, found, configuration, loaded.keys, { runs, deep }, known);
    if (runs) await examineHealth(found, core, known);
  } finally {
    await known.service?.stop();
    await known.store?.close();
  }
  return found;
}

export const doctorCommand: OwnCommand = {
  name: 'doctor',
  summary: 'Check this installation and explain how to fix problems',
  options: { deep: { type: 'boolean', summary: 'Also read the complete embedded store; takes a while' } },
  async run({ options }, composition) {
    const { items, skipped } = await runDoctor(composition, options['deep'] === true);
    const ok = items.every((item) => item.ok);
    const width = Math.max(15, ...items.map(({ check }) => check.length));
    const lines = items.map(
      (item) =>
        `${item.ok ? 'ok   ' : 'WRONG'} ${item.check.padEnd(width)} ${item.detail}${item.mend === null ? '' : `\n      → ${item.mend}`}`,
    );
    const rest = skipped.map((check) => `-     ${check.padEnd(width)} not checked: fix the above first`);
    return {
      json: { items, ok, skipped },
      text: [...lines, ...rest].join('\n'),
      exit: ok ? EXIT_CODES.ok : EXIT_CODES.error,
    };
  },
};
