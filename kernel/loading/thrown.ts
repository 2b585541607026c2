/**
 * Whose code threw outside of every call, as in a timer: the plugin whose file stands in the stack, else the one that
 * runs at the time. Everything that a plugin from outside hands over runs in a scope that names it, since the stack of
 * an event that no one listens to, or of a promise of Node's own, has no file of the plugin.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { types } from 'node:util';
import type { Migration, PluginParts } from '../contract.js';
import { BUILT_IN } from '../manifest.js';
import { isInPackageOf, isModuleOf, listStackFiles } from './sources.js';

/** The entry of `plugins` that the running code belongs to. */
const scope = new AsyncLocalStorage<string>();
/** By entry. */
const modules = new Map<string, string>();
const unregistered = new Map<string, unknown>();

/** @param module file of the plugin, links resolved */
export function addPluginModule(entry: string, module: string): void {
  modules.set(entry, module);
}

export function runInPlugin<T>(entry: string, work: () => T): T {
  return entry === BUILT_IN ? work() : scope.run(entry, work);
}

/** The entry of the plugin from outside in whose code an error was thrown; null: it was not in one. */
export function findThrower(error: unknown): string | null {
  const files = listStackFiles(error instanceof Error ? (error.stack ?? '') : '');
  for (const has of [isModuleOf, isInPackageOf])
    for (const file of files) for (const [entry, module] of modules) if (has(module, file)) return entry;
  return scope.getStore() ?? null;
}

/** Stores what a plugin threw before it was registered. @returns false when no plugin threw it */
export function recordThrown(error: unknown): boolean {
  const entry = findThrower(error);
  if (entry !== null) unregistered.set(entry, error);
  return entry !== null;
}

/** What a plugin threw before it was registered. */
export const getThrown = (entry: string): { error: unknown } | null =>
  unregistered.has(entry) ? { error: unregistered.get(entry) } : null;

/** The same parts, whose functions run in the scope of the plugin that has made them. */
export function bindParts(entry: string, parts: PluginParts): PluginParts {
  if (entry === BUILT_IN) return parts;
  const { services = {}, extensions = [] } = parts;
  const others = Object.entries(parts).map(([name, part]: [string, unknown]) => [
    name,
    Array.isArray(part) ? part.map((one) => bind(entry, one)) : bind(entry, part),
  ]);
  return {
    ...(Object.fromEntries(others) as PluginParts),
    services: Object.fromEntries(Object.entries(services).map(([name, service]) => [name, bind(entry, service)])),
    extensions: extensions.map(({ point, value }) => ({ point, value: bind(entry, value) })),
  };
}

/** The same migrations, which run in the scope of their plugin. */
export const bindMigrations = (entry: string, migrations: readonly Migration[]): readonly Migration[] =>
  migrations.map((migration) => ({
    ...migration,
    run: (context) => runInPlugin(entry, () => migration.run(context)),
  }));

function bind(entry: string, value: unknown): unknown {
  if (typeof value === 'function') return bindFunction(entry, value, null);
  if (!isPlain(value)) return isInstance(value) ? bindObject(entry, value) : value;
  if (!Object.isFrozen(value)) return bindObject(entry, value);
  return Object.fromEntries(Reflect.ownKeys(value).map((name) => [name, bind(entry, value[name])]));
}

/** @param self what `this` is in it; null: what the caller says */
const bindFunction = (entry: string, work: object, self: object | null): object =>
  new Proxy(work as (...args: unknown[]) => unknown, {
    apply: (target, caller, args) => scope.run(entry, () => Reflect.apply(target, self ?? caller, args)),
  });

/** Methods see the object itself, whose private members a proxy does not have. */
function bindObject(entry: string, value: object): object {
  const functions = new WeakMap<object, object>();
  return new Proxy(value, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (name === 'constructor' || Reflect.getOwnPropertyDescriptor(target, name)?.configurable === false)
        return member;
      if (typeof member !== 'function') return isPlain(member) ? bind(entry, member) : member;
      const known = functions.get(member) ?? bindFunction(entry, member, target);
      functions.set(member, known);
      return known;
    },
    set: (target, name, member) => Reflect.set(target, name, member, target),
  });
}

function isPlain(value: unknown): value is Record<string | symbol, unknown> {
  if (value === null || typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Of a class of the plugin: what Node, the language and joi have made is data. */
function isInstance(value: unknown): value is object {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || '$_terms' in value) return false;
  return !ArrayBuffer.isView(value) && !DATA.some((is) => is(value));
}

const DATA = [types.isDate, types.isRegExp, types.isMap, types.isSet, types.isPromise, types.isNativeError];
