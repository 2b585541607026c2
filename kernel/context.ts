import type { DomainEvent, EventBus } from '../ports/events.js';
import type { Jobs } from '../ports/jobs.js';
import { CORE_PORTS, DECLARED_PORTS, type Ports } from '../ports/ports.js';
import type { DocumentStore } from '../ports/store/index.js';
import { resolveService, type ExtensionPoint, type Token } from '../ports/token.js';
import { getPluginCollection, NotInManifest, createPluginTransact } from './collections.js';
import type { ContainerScope } from './container.js';
import { getFullJobName } from './contributions/job-faults.js';
import { added, addedBy, collection, type Addition, type AppSettings, type PluginContext } from './contract/index.js';
import type { PluginLocks } from './locks.js';
import type { SuppliedPorts } from './kernel-parts.js';
import type { PluginRun, ProvidedServices } from './plugin-run.js';

export interface SharedServices {
  app: AppSettings;
  ports: SuppliedPorts;
  store: DocumentStore;
  services: ProvidedServices;
  bus: EventBus;
  locks: PluginLocks;
  root: ContainerScope;
  extensions: (point: string) => readonly unknown[];
  addedTo: (point: string) => readonly Addition<unknown>[];
}

export function createPluginContext(plugin: PluginRun, shared: SharedServices): PluginContext {
  const { id, manifest } = plugin;
  const { app, services } = shared;
  const { clock, ids } = shared.ports;
  const { config } = plugin.registered;
  const log = shared.ports.log.child({ plugin: id });
  const supplied: Ports = { ...shared.ports, log, jobs: createPluginJobs(plugin, shared.ports.jobs) };
  const all = Object.fromEntries([...CORE_PORTS, ...manifest.ports].map((name) => [name, supplied[name]]));
  const ports = rejectUnknownMembers(all as unknown as Ports, (name) => {
    if (DECLARED_PORTS.some((port) => port === name)) throw new NotInManifest(`the port "${name}"`, 'ports');
    return `port "${name}" does not exist; available ports: ${listNames(all)}`;
  });
  const service = (name: string): unknown => resolveService(services.get(name), manifest);
  const needed = Object.fromEntries(manifest.needs.map((name) => [name, service(name)]));
  const open = getPluginCollection(shared.store, manifest);
  const collections = Object.fromEntries(manifest.collections.map(({ name }) => [collection(name).name, open(name)]));
  const extensions = <T>({ point }: ExtensionPoint<T>): readonly T[] => {
    if (!manifest.extensionPoints.includes(point))
      throw new NotInManifest(`the extension point "${point}"`, 'extensionPoints');
    return shared.extensions(point) as readonly T[];
  };
  const offered = Object.fromEntries(
    manifest.extensionPoints.flatMap((point) => [
      [added({ point }).name, () => extensions({ point })],
      [addedBy({ point }).name, () => shared.addedTo(point)],
    ]),
  );
  const scope = shared.root.createChild({ ...needed, ...collections, ...offered, app, config, ...all });
  const events = new Set(manifest.events);
  const context: PluginContext = {
    config,
    app,
    log,
    clock,
    ids,
    ports,
    collection: open,
    transact: createPluginTransact(shared.store, manifest),
    resolve<T>({ name }: Token<T>): T {
      if (!manifest.needs.includes(name)) throw new NotInManifest(`the token "${name}"`, 'needs');
      const found = service(name);
      if (found === undefined) throw new Error(`"${name}" is not available: its plugin has failed`);
      return found as T;
    },
    find<T>({ name }: Token<T>): T | undefined {
      if (!manifest.uses.includes(name)) throw new NotInManifest(`the token "${name}"`, 'uses');
      return service(name) as T | undefined;
    },
    extensions,
    services: (classes) => scope.services(classes),
    bind: (key, value) => scope.bind(key, value),
    lock: (name, work) => shared.locks.run(id, name, log, work),
    emit: async (event, data, options = {}) => {
      if (!events.has(event)) throw new NotInManifest(`the event "${event}"`, 'events');
      const whole: DomainEvent = {
        id: options.id ?? `evt_${ids.uuid()}`,
        event,
        timestamp: options.timestamp ?? clock.iso(),
        project_slug: options.project_slug ?? null,
        data,
      };
      return shared.bus.emit(whole);
    },
  };
  return rejectUnknownMembers(context, (name) =>
    name in all
      ? `the context has no "${name}"; use the port \`ctx.ports.${name}\``
      : `the context has no "${name}"; available: ${listNames(context)}`,
  );
}

const listNames = (members: object): string => Object.keys(members).toSorted().join(', ');

/** Throws on unknown members, so that a typo is reported where it is used. */
function rejectUnknownMembers<T extends object>(members: T, describe: (name: string) => string): T {
  return new Proxy(members, {
    get(target, name, receiver): unknown {
      if (typeof name === 'symbol' || name in target || INSPECTED_NAMES.has(name))
        return Reflect.get(target, name, receiver);
      throw new Error(describe(name));
    },
  });
}

const INSPECTED_NAMES: ReadonlySet<string> = new Set([
  'then',
  'toJSON',
  'constructor',
  'inspect',
  'asymmetricMatch',
  'nodeType',
]);

/** Unknown jobs are rejected here instead of being lost in the queue. */
function createPluginJobs(run: PluginRun, jobs: Jobs | undefined): Ports['jobs'] {
  const there = (): Jobs => {
    if (jobs === undefined) throw new Error('this process does not run jobs');
    return jobs;
  };
  const known = (name: string): string => {
    const full = getFullJobName(run.id, name);
    const own = run.parts.jobs?.map((job) => job.name);
    // While `setup` runs, its jobs are not known yet.
    if (own === undefined || own.includes(full) || !full.startsWith(`${run.id}.`)) return full;
    throw new Error(
      `plugin ${run.id} has no job "${name}": define it in \`jobs\`, or use one of ${own.join(', ') || 'none'}`,
    );
  };
  return {
    enqueue: async (name, data, options) => there().enqueue(known(name), data, options),
    runNow: async (name, data) => there().runNow(known(name), data),
    list: async () => there().list(),
  };
}
