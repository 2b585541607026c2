/** Critical plugins and their dependencies cannot be switched off. */
import type { PluginState } from '../ports/domain/system.js';
import type { PluginFault } from './loading/broken-plugins.js';
import type { FullManifest, InstalledPlugin } from './manifest.js';

export interface PluginSelection {
  on: InstalledPlugin[];
  off: PluginState[];
}

/** @param incomplete some plugin could not be loaded, so an unknown id is not reported */
export function selectPlugins(
  installed: readonly InstalledPlugin[],
  { off = [], origin }: { off?: readonly string[]; origin: (key: string) => string },
  incomplete: boolean,
  faults: PluginFault[],
): PluginSelection {
  const say = (fault: string): void => {
    faults.push({
      plugin: null,
      fault: `plugins_off ${fault}`,
      fix: `fix it in ${origin('plugins_off')}`,
      owner: null,
    });
  };
  const known = new Map(installed.map((one) => [one.manifest.id, one.manifest]));
  const reasons = new Map<string, string>();
  for (const id of off) {
    const manifest = known.get(id);
    if (manifest?.critical === true) say(`contains "${id}", but the service cannot run without it`);
    else if (manifest !== undefined) reasons.set(id, 'disabled by `plugins_off`');
    else if (!incomplete)
      say(`contains "${id}", but this plugin does not exist; available plugins: ${[...known.keys()].join(', ')}`);
  }
  for (let found = findOrphan(installed, reasons); found !== null; found = findOrphan(installed, reasons)) {
    const { manifest, token, owner } = found;
    if (manifest.critical) say(`disables ${owner}, but ${manifest.id} cannot run without its "${token}"`);
    reasons.set(manifest.id, `needs "${token}" of plugin ${owner}, which is disabled`);
  }
  return {
    on: installed.filter(({ manifest }) => !reasons.has(manifest.id)),
    off: installed.flatMap(({ manifest: { id, title, version, critical, decidesHealth } }) => {
      const reason = reasons.get(id);
      return reason === undefined
        ? []
        : [{ id, title, version, critical, decides_health: decidesHealth, state: 'off' as const, reason }];
    }),
  };
}

function findOrphan(
  installed: readonly InstalledPlugin[],
  off: ReadonlyMap<string, string>,
): { manifest: FullManifest; token: string; owner: string } | null {
  const providers = (name: string) => installed.filter(({ manifest }) => manifest.provides.includes(name));
  for (const { manifest } of installed) {
    if (off.has(manifest.id)) continue;
    for (const token of manifest.needs) {
      const owners = providers(token).map((one) => one.manifest.id);
      const [owner] = owners;
      if (owner !== undefined && owners.every((id) => off.has(id))) return { manifest, token, owner };
    }
  }
  return null;
}
