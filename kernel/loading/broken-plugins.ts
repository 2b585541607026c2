/** External plugins that cannot run. */
import type { PluginState } from '../../ports/domain/system.js';
import { formatFaults, type Fault } from '../faults.js';
import { BUILT_IN, type LoadedPlugin } from '../manifest.js';

export interface BrokenPlugin {
  state: PluginState;
  module: string | null;
  faults: readonly Fault[];
}

export interface PluginFault extends Fault {
  owner: LoadedPlugin | null;
}

function readManifest(plugin: unknown): Partial<Record<string, unknown>> {
  return plugin !== null && typeof plugin === 'object' ? plugin : {};
}

export function isExpendable({ plugin, entry }: LoadedPlugin): boolean {
  return entry !== BUILT_IN && readManifest(plugin)['critical'] !== true;
}

/** The id of another plugin is not used as this one's name. */
const nameEntry = (entry: string, usedIds: ReadonlySet<string>): string =>
  usedIds.has(entry) ? `plugins: ${entry}` : entry;

export function createBrokenPlugin(
  loaded: LoadedPlugin,
  faults: readonly Fault[],
  usedIds: ReadonlySet<string>,
): BrokenPlugin {
  const { id, title, version, decidesHealth } = readManifest(loaded.plugin);
  const name =
    typeof id === 'string' && /^[a-z][a-z0-9]{1,31}$/.test(id) && !usedIds.has(id)
      ? id
      : nameEntry(loaded.entry, usedIds);
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
