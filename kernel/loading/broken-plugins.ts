/**
 * Plugins from outside that cannot run: their module cannot be loaded, or their manifest does not fit. The service runs
 * without them, names them with the reason, and answers 503 on their paths. A plugin that comes with the service, or
 * whose manifest says `critical`, stops the start instead.
 */
import type { PluginState } from '../../ports/domain/system.js';
import { formatFaults, type Fault } from '../faults.js';
import { BUILT_IN, type LoadedPlugin } from '../manifest.js';

export interface BrokenPlugin {
  state: PluginState;
  /** File of its module; null when it is not known. */
  module: string | null;
  faults: readonly Fault[];
}

/** A fault, and the plugin that has it. Null: the configuration, or a plugin that could not be loaded. */
export interface OwnedFault extends Fault {
  owner: LoadedPlugin | null;
}

/** What a manifest says, as far as it can be read. */
function readManifest(plugin: unknown): Partial<Record<string, unknown>> {
  return plugin !== null && typeof plugin === 'object' ? plugin : {};
}

/** Whether the service can run without the plugin. */
export function isExpendable({ plugin, entry }: LoadedPlugin): boolean {
  return entry !== BUILT_IN && readManifest(plugin)['critical'] !== true;
}

/** The id of another plugin is no name of this one. */
const nameEntry = (entry: string, taken: ReadonlySet<string>): string =>
  taken.has(entry) ? `plugins: ${entry}` : entry;

/** @param taken ids of other plugins; the broken one then goes by its entry */
export function createBrokenPlugin(
  loaded: LoadedPlugin,
  faults: readonly Fault[],
  taken: ReadonlySet<string>,
): BrokenPlugin {
  const { id, title, version, decidesHealth } = readManifest(loaded.plugin);
  const name =
    typeof id === 'string' && /^[a-z][a-z0-9]{1,31}$/.test(id) && !taken.has(id) ? id : nameEntry(loaded.entry, taken);
  return {
    module: loaded.module,
    faults,
    state: {
      id: name,
      title: typeof title === 'string' && title !== '' ? title : name,
      version: typeof version === 'string' ? version : 'unknown',
      critical: false,
      state: 'failed',
      decides_health: decidesHealth === true,
      reason: formatFaults(faults),
    },
  };
}

/** Tokens that a broken plugin was to provide, with the plugin. */
export function findLostProviders(
  broken: readonly { loaded: LoadedPlugin; plugin: BrokenPlugin }[],
): ReadonlyMap<string, BrokenPlugin> {
  const lost = new Map<string, BrokenPlugin>();
  for (const { loaded, plugin } of broken) {
    const provides = readManifest(loaded.plugin)['provides'];
    for (const name of Array.isArray(provides) ? provides : []) if (typeof name === 'string') lost.set(name, plugin);
  }
  return lost;
}
