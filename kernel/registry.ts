/**
 * The registry judges all plugins together before any of them runs: shapes, names, the graph of needs and provides, and
 * each one's section of the configuration. Every fault is told in one error (architecture: "validate everything").
 */
import { PLUGIN_API, type Plugin } from './contract.js';
import { PluginFaults, type Fault } from './faults.js';
import { fullManifest, shapeFaults, type FullManifest, type LoadedPlugin } from './manifest.js';
import { dependencyOrder } from './order.js';

/** A judged plugin with its configuration, defaults filled in. */
export interface Registered {
  plugin: Plugin;
  manifest: FullManifest;
  config: Record<string, unknown>;
  entry: string;
  views: string | null;
}

export interface Sections {
  /** What the configuration holds besides the service's own keys, by name. */
  sections: Readonly<Record<string, unknown>>;
  /** Where a key such as `chat.url` came from: a file, or the name of an environment variable. */
  origin: (key: string) => string;
  /** Names that a plugin may not take, because they are the service's own sections. */
  reserved?: readonly string[];
}

/** Tokens that the kernel itself provides. */
export const KERNEL_TOKENS: readonly string[] = ['kernel.system'];
const RESERVED: readonly string[] = ['kernel', 'jobs'];

interface Judged {
  plugin: Plugin;
  manifest: FullManifest;
  loaded: LoadedPlugin;
}

/**
 * The plugins in the order in which they are set up.
 * @param found faults of the loader, told together with the registry's own.
 * @throws PluginFaults with every fault
 */
export function register(
  loaded: readonly LoadedPlugin[],
  settings: Sections,
  found: readonly Fault[] = [],
): Registered[] {
  const faults: Fault[] = [...found];
  const judged = loaded.flatMap((one) => judge(one, settings, faults));
  sharedNames(judged, faults);
  missingProviders(judged, loaded, faults);
  const order = orderOf(judged, faults);
  const configs = new Map(judged.map(({ manifest }) => [manifest.id, configOf(manifest, settings, faults)]));
  // A plugin that could not be read may own the section, so an unknown one proves nothing yet.
  if (judged.length === loaded.length && found.length === 0) unknownSections(judged, settings, faults);
  if (faults.length > 0) throw new PluginFaults(faults);

  const byId = new Map(judged.map((one) => [one.manifest.id, one]));
  return order.map((id) => {
    const { plugin, manifest, loaded: from } = byId.get(id) as Judged;
    return { plugin, manifest, config: configs.get(id) ?? {}, entry: from.entry, views: from.views };
  });
}

function judge(loaded: LoadedPlugin, settings: Sections, faults: Fault[]): Judged[] {
  const { plugin, entry } = loaded;
  const say = (name: string, fault: string, mend = `mend its manifest (${entry})`): Judged[] => {
    faults.push({ plugin: name, fault, mend });
    return [];
  };
  if (plugin === null || typeof plugin !== 'object') {
    return say(entry, 'is no plugin: it exports no object', 'export the plugin as `default` or as `plugin`');
  }
  const { id, api } = plugin as { id?: unknown; api?: unknown };
  const name = typeof id === 'string' && id !== '' ? id : entry;
  if (typeof api === 'number' && api !== PLUGIN_API) {
    const made = `is made for plugin API ${api}, and this service speaks ${PLUGIN_API}`;
    return say(name, made, `install its version for API ${PLUGIN_API} (${entry})`);
  }
  const wrong = shapeFaults(plugin);
  if (wrong.length > 0) return wrong.flatMap((fault) => say(name, fault));
  if ([...RESERVED, ...(settings.reserved ?? [])].includes(name)) {
    return say(name, `the id "${name}" belongs to the service itself`, `give it another id (${entry})`);
  }
  return [{ plugin: plugin as Plugin, manifest: fullManifest(plugin as Plugin), loaded }];
}

/** What must have one owner: ids, tokens, scopes, events. Collections and jobs carry their plugin's id and cannot meet. */
function sharedNames(judged: readonly Judged[], faults: Fault[]): void {
  const kinds: [string, (manifest: FullManifest) => readonly string[]][] = [
    ['id', (m) => [m.id]],
    ['token', (m) => m.provides],
    ['scope', (m) => m.scopes],
    ['event', (m) => m.events],
  ];
  for (const [kind, names] of kinds) {
    const owners = new Map<string, Judged>();
    if (kind === 'token') for (const name of KERNEL_TOKENS) owners.set(name, KERNEL);
    for (const one of judged) {
      for (const name of names(one.manifest)) {
        const owner = owners.get(name);
        if (owner === undefined) owners.set(name, one);
        else faults.push({ plugin: one.manifest.id, ...taken(kind, name, owner, one) });
      }
    }
  }
}

const KERNEL = { manifest: { id: 'kernel' }, loaded: { entry: 'built in' } } as Judged;

function taken(kind: string, name: string, first: Judged, second: Judged): Pick<Fault, 'fault' | 'mend'> {
  if (kind === 'id') {
    const entries = `${first.loaded.entry} and ${second.loaded.entry}`;
    return { fault: `two plugins have this id (${entries})`, mend: 'remove one of them' };
  }
  const verb = kind === 'token' ? 'provides' : 'registers';
  return {
    fault: `${verb} the ${kind} "${name}", which plugin ${first.manifest.id} ${verb} too`,
    mend: kind === 'token' ? 'remove one of the two plugins' : `give the ${kind} another name in one of them`,
  };
}

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.filter((v) => typeof v === 'string') : []);

function missingProviders(judged: readonly Judged[], loaded: readonly LoadedPlugin[], faults: Fault[]): void {
  // A plugin with another fault still counts as a provider: one mistake, one line.
  const provided = new Set(KERNEL_TOKENS);
  for (const { plugin } of loaded) {
    for (const name of strings((plugin as { provides?: unknown } | null)?.provides)) provided.add(name);
  }
  for (const { manifest } of judged) {
    for (const name of manifest.needs) {
      if (provided.has(name)) continue;
      faults.push({
        plugin: manifest.id,
        fault: `needs "${name}", which no plugin provides`,
        mend: 'add the plugin that provides it to `plugins`, or remove this one',
      });
    }
  }
}

function orderOf(judged: readonly Judged[], faults: Fault[]): string[] {
  const provider = new Map<string, string>();
  for (const { manifest } of judged) for (const name of manifest.provides) provider.set(name, manifest.id);
  const reasons = new Map<string, string>();
  const dependents = judged.map(({ manifest: { id, after, needs } }) => {
    for (const name of after) reasons.set(`${id} ${name}`, `${id} comes after ${name}`);
    for (const name of needs) {
      const owner = provider.get(name);
      if (owner !== undefined) reasons.set(`${id} ${owner}`, `${id} needs "${name}" of ${owner}`);
    }
    const owners = needs.flatMap((name) => provider.get(name) ?? []);
    return { id, after: [...after, ...owners] };
  });
  const { order, circles } = dependencyOrder(dependents);
  for (const circle of circles) {
    const steps = circle.slice(1).map((to, i) => reasons.get(`${circle[i]} ${to}`));
    faults.push({
      plugin: circle[0] as string,
      fault: `stands on a circle: ${circle.join(' → ')} (${steps.join(', ')})`,
      mend: 'take away one of these steps; an event breaks a circle',
    });
  }
  return order;
}

function configOf(manifest: FullManifest, { sections, origin }: Sections, faults: Fault[]): Record<string, unknown> {
  const { id, config } = manifest;
  const section = Object.hasOwn(sections, id) ? sections[id] : {};
  const say = (key: string, problem: string): void => {
    faults.push({ plugin: null, fault: `${key} ${problem}`, mend: `mend it in ${origin(key)}` });
  };
  if (section === null || typeof section !== 'object' || Array.isArray(section)) {
    say(id, 'must be an object');
    return {};
  }
  if (config === null) {
    for (const key of Object.keys(section)) say(`${id}.${key}`, `is unknown: plugin ${id} has no settings`);
    return {};
  }
  const { error, value } = config.validate(section, {
    abortEarly: false,
    errors: { label: false },
    // joi's own text holds the value, which may be a secret.
    messages: { 'string.pattern.base': 'must match {{#regex}}', 'object.unknown': 'is unknown' },
  });
  for (const { message, path } of error?.details ?? []) say([id, ...path].join('.'), message.trim());
  return (value ?? {}) as Record<string, unknown>;
}

function unknownSections(judged: readonly Judged[], { sections, origin }: Sections, faults: Fault[]): void {
  const ids = new Set(judged.map(({ manifest }) => manifest.id));
  for (const key of Object.keys(sections)) {
    if (ids.has(key)) continue;
    faults.push({
      plugin: null,
      fault: `${key} is unknown: it is no setting of the service and no installed plugin has this section`,
      mend: `mend it in ${origin(key)}`,
    });
  }
}
