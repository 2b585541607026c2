/**
 * Validates all plugins together before any runs. Faults of built-in or critical plugins and of the
 * configuration stop the start; other external plugins are disabled (contract 95).
 */
import { CATALOG, MIGRATIONS, RUNTIME, SYSTEM, type PluginState } from '../ports/domain/system.js';
import {
  createBrokenPlugin,
  isExpendable,
  findLostProviders,
  type BrokenPlugin,
  type PluginFault,
} from './loading/broken-plugins.js';
import { PLUGIN_API, type Plugin } from './contract/index.js';
import { CODES } from './errors.js';
import { PluginFaults, type Fault } from './faults.js';
import {
  completeManifest,
  findManifestFaults,
  type FullManifest,
  type InstalledPlugin,
  type LoadedPlugin,
} from './manifest.js';
import { bindMigrations } from './loading/error-attribution.js';
import { sortByDependency } from './dependency-order.js';
import { selectPlugins } from './plugin-selection.js';

export interface RegisteredPlugin {
  plugin: Plugin;
  manifest: FullManifest;
  config: Record<string, unknown>;
  entry: string;
  module: string | null;
  views: string | null;
  tested: boolean;
}

export interface SectionSettings {
  sections: Readonly<Record<string, unknown>>;
  /** Source of a key such as `chat.url`: a file, or the name of an environment variable. */
  origin: (key: string) => string;
  reserved?: readonly string[];
  off?: readonly string[];
}

export interface RegisteredPlugins {
  plugins: RegisteredPlugin[];
  off: PluginState[];
  broken: BrokenPlugin[];
  /** Extension points that a plugin adds to but no installed plugin offers. */
  unoffered: { plugin: string; point: string }[];
}

export const KERNEL_TOKENS: readonly string[] = [RUNTIME, MIGRATIONS, CATALOG, SYSTEM].map(({ name }) => name);
const RESERVED_NAMES: readonly string[] = ['kernel', 'jobs'];

/**
 * In setup order.
 * @param unloaded with their faults
 * @throws PluginFaults with every fault that prevents the start
 */
export function registerPlugins(
  loaded: readonly LoadedPlugin[],
  settings: SectionSettings,
  unloaded: readonly { plugin: LoadedPlugin; fault: Fault }[] = [],
): RegisteredPlugins {
  const broken = unloaded.map(({ plugin, fault }) => ({
    loaded: plugin,
    plugin: createBrokenPlugin(plugin, [fault], new Set(loaded.map(getId))),
  }));
  let candidates = loaded;
  for (;;) {
    const faults: PluginFault[] = [];
    const lost = findLostProviders(broken);
    const result = registerAll(candidates, settings, { faults, lost, incomplete: broken.length > 0 });
    if (faults.length === 0) return { ...result, broken: broken.map(({ plugin }) => plugin) };
    const out = new Set(faults.flatMap(({ owner }) => (owner !== null && isExpendable(owner) ? [owner] : [])));
    // Faults of other plugins may be consequences; they are found again on the next pass.
    if (out.size === 0) throw new PluginFaults(faults);
    candidates = candidates.filter((one) => !out.has(one));
    for (const one of out) {
      const usedIds = new Set([...candidates.map(getId), ...broken.map(({ plugin }) => plugin.state.id)]);
      const own = faults.filter(({ owner }) => owner === one);
      broken.push({ loaded: one, plugin: createBrokenPlugin(one, own, usedIds) });
    }
  }
}

const getId = ({ plugin }: LoadedPlugin): string => (plugin as Partial<Plugin> | null)?.id ?? '';

interface RegistrationState {
  faults: PluginFault[];
  lost: ReadonlyMap<string, BrokenPlugin>;
  /** Some plugin could not be read, so an unknown name is not reported. */
  incomplete: boolean;
}

function registerAll(
  loaded: readonly LoadedPlugin[],
  settings: SectionSettings,
  { faults, lost, incomplete }: RegistrationState,
): Omit<RegisteredPlugins, 'broken'> {
  const installed = loaded.flatMap((one) => validatePlugin(one, settings, faults));
  checkUniqueIds(installed, faults);
  const { on: enabledPlugins, off } = selectPlugins(installed, settings, incomplete, faults);
  findSharedNames(enabledPlugins, faults);
  findMissingProviders(enabledPlugins, loaded, lost, faults);
  const order = resolveOrder(enabledPlugins, faults);
  const configs = new Map(
    enabledPlugins.map(({ manifest }) => [manifest.id, resolveConfig(manifest, settings, faults)]),
  );
  // A plugin that could not be read may own the section.
  if (enabledPlugins.length === loaded.length && !incomplete) findUnknownSections(installed, settings, faults);
  const byId = new Map(enabledPlugins.map((one) => [one.manifest.id, one]));
  const plugins = order.map((id) => {
    const { plugin, manifest, loaded: from } = byId.get(id) as InstalledPlugin;
    return {
      plugin,
      manifest,
      config: configs.get(id) ?? {},
      entry: from.entry,
      module: from.module,
      views: from.views,
      tested: from.tested === true,
    };
  });
  return { plugins, off, unoffered: findUnofferedPoints(enabledPlugins, installed) };
}

function validatePlugin(loaded: LoadedPlugin, settings: SectionSettings, faults: PluginFault[]): InstalledPlugin[] {
  const { plugin, entry } = loaded;
  const say = (name: string, fault: string, fix = `fix its manifest (${entry})`): InstalledPlugin[] => {
    faults.push({ plugin: name, fault, fix: fix, owner: loaded });
    return [];
  };
  if (plugin === null || typeof plugin !== 'object') {
    return say(entry, 'is not a plugin: it does not export an object', 'export the plugin as `default` or as `plugin`');
  }
  const { id, api } = plugin as { id?: unknown; api?: unknown };
  const name = typeof id === 'string' && id !== '' ? id : entry;
  if (typeof api === 'number' && api !== PLUGIN_API) {
    const made = `requires plugin API ${api}, but this service provides ${PLUGIN_API}`;
    return say(name, made, `install its version for API ${PLUGIN_API} (${entry})`);
  }
  const wrong = loaded.tested === true ? [] : findManifestFaults(plugin);
  if (wrong.length > 0) return wrong.flatMap((fault) => say(name, fault));
  const reservedNames = new Set([...RESERVED_NAMES, ...(settings.reserved ?? [])]);
  if (reservedNames.has(name)) {
    return say(name, `the id "${name}" is reserved by the service`, `give it another id (${entry})`);
  }
  const { section } = plugin as Plugin;
  if (section !== undefined && reservedNames.has(section)) {
    return say(name, `the section "${section}" is reserved by the service`, `give it another section (${entry})`);
  }
  const manifest = completeManifest(plugin as Plugin);
  const migrations = bindMigrations(entry, manifest.migrations);
  return [{ plugin: plugin as Plugin, manifest: { ...manifest, migrations }, loaded }];
}

function checkUniqueIds(installed: readonly InstalledPlugin[], faults: PluginFault[]): void {
  const entries = new Map<string, string>();
  for (const { manifest, loaded } of installed) {
    const first = entries.get(manifest.id);
    if (first === undefined) entries.set(manifest.id, loaded.entry);
    else {
      const fault = `two plugins have this id (${first} and ${loaded.entry})`;
      faults.push({ plugin: manifest.id, fault, fix: 'remove one of them', owner: loaded });
    }
  }
}

interface UniqueNameKind {
  noun: string;
  verb: string;
  names: (manifest: FullManifest) => readonly string[];
  kernel?: readonly string[];
  fix?: string;
}

const formatRename = (noun: string): string => `give the ${noun} another name in one of them`;
/** Names with exactly one owner. */
const UNIQUE_NAME_KINDS: readonly UniqueNameKind[] = [
  {
    noun: 'token',
    verb: 'provides',
    names: (m) => m.provides,
    kernel: KERNEL_TOKENS,
    fix: 'remove one of the two plugins',
  },
  { noun: 'section', verb: 'takes', names: (m) => [m.section], fix: 'give one of them another section' },
  { noun: 'extension point', verb: 'offers', names: (m) => m.extensionPoints },
  { noun: 'scope', verb: 'registers', names: (m) => m.scopes },
  { noun: 'event', verb: 'registers', names: (m) => m.events },
  { noun: 'error code', verb: 'declares', names: (m) => Object.keys(m.errors), kernel: Object.keys(CODES) },
];

function findSharedNames(enabledPlugins: readonly InstalledPlugin[], faults: PluginFault[]): void {
  for (const { noun, verb, names, kernel = [], fix = formatRename(noun) } of UNIQUE_NAME_KINDS) {
    const owners = new Map(kernel.map((name) => [name, 'kernel']));
    for (const { manifest, loaded } of enabledPlugins) {
      for (const name of names(manifest)) {
        const owner = owners.get(name);
        if (owner === undefined) owners.set(name, manifest.id);
        // Were reported for the id.
        else if (noun !== 'section' || owner !== manifest.id) {
          const fault = `${verb} the ${noun} "${name}", which plugin ${owner} ${verb} too`;
          faults.push({ plugin: manifest.id, fault, fix: fix, owner: loaded });
        }
      }
    }
  }
}

const toStrings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((v) => typeof v === 'string') : [];

function findMissingProviders(
  enabledPlugins: readonly InstalledPlugin[],
  loaded: readonly LoadedPlugin[],
  lost: RegistrationState['lost'],
  faults: PluginFault[],
): void {
  // A plugin with another fault still counts as a provider, so that one mistake yields one line.
  const provides = loaded.flatMap(({ plugin }) => toStrings((plugin as { provides?: unknown } | null)?.provides));
  const provided = new Set([...KERNEL_TOKENS, ...provides]);
  for (const { manifest, loaded: owner } of enabledPlugins) {
    for (const name of manifest.needs) {
      if (provided.has(name)) continue;
      const provider = lost.get(name)?.state;
      const fault =
        provider === undefined
          ? `needs "${name}", which no plugin provides`
          : `needs "${name}" of plugin ${provider.id}, which failed: ${provider.reason}`;
      const fix =
        provider === undefined
          ? 'add the plugin that provides it to `plugins`, or remove this one'
          : `fix ${provider.id} first`;
      faults.push({ plugin: manifest.id, fault, fix: fix, owner });
    }
  }
}

/** A plugin may extend one that is not installed; a misspelt name is only logged. */
function findUnofferedPoints(
  enabledPlugins: readonly InstalledPlugin[],
  installed: readonly InstalledPlugin[],
): RegisteredPlugins['unoffered'] {
  const offered = new Set(installed.flatMap(({ manifest }) => manifest.extensionPoints));
  return enabledPlugins.flatMap(({ manifest }) =>
    manifest.extends.filter((point) => !offered.has(point)).map((point) => ({ plugin: manifest.id, point })),
  );
}

/** Providers of needed or used tokens, and owners of extended points. */
function resolveOrder(enabledPlugins: readonly InstalledPlugin[], faults: PluginFault[]): string[] {
  const providers = new Map(enabledPlugins.flatMap(({ manifest: m }) => m.provides.map((name) => [name, m.id])));
  const owners = new Map(enabledPlugins.flatMap(({ manifest: m }) => m.extensionPoints.map((name) => [name, m.id])));
  const reasons = new Map<string, string>();
  const dependents = enabledPlugins.map(({ manifest: { id, after, needs, uses, extends: points } }) => {
    const first = [...after];
    for (const name of after) reasons.set(`${id} ${name}`, `${id} starts after ${name}`);
    const depend = (verb: string, names: readonly string[], of: ReadonlyMap<string, string>): void => {
      for (const name of names) {
        const owner = of.get(name);
        if (owner === undefined) continue;
        first.push(owner);
        reasons.set(`${id} ${owner}`, `${id} ${verb} "${name}" of ${owner}`);
      }
    };
    depend('extends', points, owners);
    depend('uses', uses, providers);
    depend('needs', needs, providers);
    return { id, after: first };
  });
  const { order, circles } = sortByDependency(dependents);
  for (const circle of circles) {
    const steps = circle.slice(1).map((to, i) => reasons.get(`${circle[i]} ${to}`));
    const members = circle.flatMap((id) => enabledPlugins.find(({ manifest }) => manifest.id === id) ?? []);
    const owner = members.find(({ loaded }) => isExpendable(loaded)) ?? members[0];
    if (owner === undefined) continue;
    faults.push({
      owner: owner.loaded,
      plugin: owner.manifest.id,
      fault: `is part of a dependency cycle: ${circle.join(' → ')} (${steps.join(', ')})`,
      fix: 'remove one of these dependencies; an event or an extension point breaks a cycle',
    });
  }
  return order;
}

function resolveConfig(
  manifest: FullManifest,
  { sections, origin }: SectionSettings,
  faults: PluginFault[],
): Record<string, unknown> {
  const { id: plugin, section: id, config } = manifest;
  const section = Object.hasOwn(sections, id) ? sections[id] : {};
  const say = (key: string, problem: string): void => {
    faults.push({ plugin: null, fault: `${key} ${problem}`, fix: `fix it in ${origin(key)}`, owner: null });
  };
  if (section === null || typeof section !== 'object' || Array.isArray(section)) {
    say(id, 'must be an object');
    return {};
  }
  if (config === null) {
    for (const key of Object.keys(section)) say(`${id}.${key}`, `is unknown: plugin ${plugin} has no settings`);
    return {};
  }
  const { error, value } = config.validate(section, {
    abortEarly: false,
    errors: { label: false },
    // joi's own message contains the value, which may be a secret.
    messages: {
      'any.custom': '{{#error.message}}',
      'string.pattern.base': 'must match {{#regex}}',
      'object.unknown': 'is unknown',
    },
  });
  for (const { message, path } of error?.details ?? []) say([id, ...path].join('.'), message.trim());
  return (value ?? {}) as Record<string, unknown>;
}

function findUnknownSections(
  installed: readonly InstalledPlugin[],
  { sections, origin }: SectionSettings,
  faults: PluginFault[],
): void {
  const ids = new Set(installed.map(({ manifest }) => manifest.section));
  for (const key of Object.keys(sections)) {
    if (ids.has(key)) continue;
    faults.push({
      owner: null,
      plugin: null,
      fault: `${key} is unknown: it is not a setting of the service, and no installed plugin has this section`,
      fix: `fix it in ${origin(key)}`,
    });
  }
}
