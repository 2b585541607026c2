/**
 * Attributes errors thrown outside of a call to a plugin: by its files in the stack, else by the
 * active scope.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { types } from 'node:util';
import type { Migration, PluginParts } from '../contract/index.js';
import { BUILT_IN } from '../manifest.js';
import { isInPackageOf, isModuleOf, listStackFiles } from './source-faults.js';

const pluginScope = new AsyncLocalStorage<string>();
const pluginModules = new Map<string, string>();
const earlyErrors = new Map<string, unknown>();

export function addPluginModule(entry: string, module: string): void {
  pluginModules.set(entry, module);
}

export function runInPlugin<T>(entry: string, work: () => T): T {
  return entry === BUILT_IN ? work() : pluginScope.run(entry, work);
}

export function findThrowingPlugin(error: unknown): string | null {
  const files = listStackFiles(error instanceof Error ? (error.stack ?? '') : '');
  for (const has of [isModuleOf, isInPackageOf])
    for (const file of files) for (const [entry, module] of pluginModules) if (has(module, file)) return entry;
  return pluginScope.getStore() ?? null;
}

/**
 * Records an error that a plugin threw before it was registered.
 * @returns false when no plugin threw it
 */
export function recordEarlyError(error: unknown): boolean {
  const entry = findThrowingPlugin(error);
  if (entry !== null) earlyErrors.set(entry, error);
  return entry !== null;
}

export const getEarlyError = (entry: string): { error: unknown } | null =>
  earlyErrors.has(entry) ? { error: earlyErrors.get(entry) } : null;

export function bindParts(entry: string, parts: PluginParts): PluginParts {
  if (entry === BUILT_IN) return parts;
  const { services = {}, extensions = [] } = parts;
  const others = Object.entries(parts).map(([name, part]: [string, unknown]) => [
    name,
    Array.isArray(part) ? part.map((one) => bindValue(entry, one)) : bindValue(entry, part),
  ]);
  return {
    ...(Object.fromEntries(others) as PluginParts),
    services: Object.fromEntries(Object.entries(services).map(([name, service]) => [name, bindValue(entry, service)])),
    extensions: extensions.map(({ point, value }) => ({ point, value: bindValue(entry, value) })),
  };
}

export const bindMigrations = (entry: string, migrations: readonly Migration[]): readonly Migration[] =>
  migrations.map((migration) => ({
    ...migration,
    run: (context) => runInPlugin(entry, () => migration.run(context)),
  }));

function bindValue(entry: string, value: unknown): unknown {
  if (typeof value === 'function') return bindFunction(entry, value, null);
  if (!isPlainObject(value)) return isClassInstance(value) ? bindObject(entry, value) : value;
  if (!Object.isFrozen(value)) return bindObject(entry, value);
  return Object.fromEntries(Reflect.ownKeys(value).map((name) => [name, bindValue(entry, value[name])]));
}

const bindFunction = (entry: string, work: object, self: object | null): object =>
  new Proxy(work as (...args: unknown[]) => unknown, {
    apply: (target, caller, args) => pluginScope.run(entry, () => Reflect.apply(target, self ?? caller, args)),
  });

/** A proxy lacks its private members. */
function bindObject(entry: string, value: object): object {
  const functions = new WeakMap<object, object>();
  return new Proxy(value, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (name === 'constructor' || Reflect.getOwnPropertyDescriptor(target, name)?.configurable === false)
        return member;
      if (typeof member !== 'function') return isPlainObject(member) ? bindValue(entry, member) : member;
      const known = functions.get(member) ?? bindFunction(entry, member, target);
      functions.set(member, known);
      return known;
    },
    set: (target, name, member) => Reflect.set(target, name, member, target),
  });
}

function isPlainObject(value: unknown): value is Record<string | symbol, unknown> {
  if (value === null || typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Whether a value is an instance of a plugin's class, not data of Node, the language or joi. */
function isClassInstance(value: unknown): value is object {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || '$_terms' in value) return false;
  return !ArrayBuffer.isView(value) && !DATA_TYPE_CHECKS.some((is) => is(value));
}

const DATA_TYPE_CHECKS = [types.isDate, types.isRegExp, types.isMap, types.isSet, types.isPromise, types.isNativeError];
