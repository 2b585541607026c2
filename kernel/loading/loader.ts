/**
 * Finds the plugins: the built-in list, and what the configuration names under `plugins` (a package, a folder with a
 * package.json, a module file). It never scans folders: what runs here was named in the configuration. What cannot be
 * loaded is a fault with the entry's name, reported together with the registry's own.
 *
 * Packages are resolved here instead of by `require.resolve`, which knows no package that exports ES modules only.
 */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { refuseOpen, UntrustedFile } from '../../lib/files/trusted-file.js';
import type { Plugin } from '../contract.js';
import { getFaultReason, type Fault } from '../faults.js';
import { BUILT_IN, type LoadedPlugin } from '../manifest.js';
import { shareContract } from './one-contract.js';
import { addPluginModule, runInPlugin } from './thrown.js';
import { within } from '../timeout.js';

export interface LoadSettings {
  /** Entries of `plugins`, as the configuration has them. */
  entries: readonly string[];
  /** Folders against which they are resolved, in this order: the configuration file's, the working directory. */
  bases: readonly string[];
  plugin_timeout_ms: number;
  /** Of the built-in ones. */
  builtinTested?: boolean;
}

export interface LoadedPlugins {
  plugins: LoadedPlugin[];
  /** Those that could not be loaded. */
  unloaded: { plugin: LoadedPlugin; fault: Fault }[];
  /** The plugin's file is writable by others, so the service does not start. */
  untrusted: Fault[];
}

export async function loadPlugins(builtin: readonly Plugin[], settings: LoadSettings): Promise<LoadedPlugins> {
  const plugins: LoadedPlugin[] = builtin.map((plugin) => ({
    plugin,
    entry: BUILT_IN,
    tested: settings.builtinTested === true,
    module: getModulePath(plugin),
    views: resolveViews(plugin, null),
  }));
  const unloaded: LoadedPlugins['unloaded'] = [];
  const untrusted: Fault[] = [];
  if (settings.entries.length > 0) await shareContract();
  for (const entry of settings.entries) {
    try {
      plugins.push(await load(entry, settings));
    } catch (error) {
      const mend = error instanceof Unresolved ? error.mend : 'fix the module, or remove the entry from `plugins`';
      const fault = { plugin: entry, fault: `cannot be loaded: ${describe(error)}`, mend };
      if (error instanceof UntrustedFile) untrusted.push(fault);
      else
        unloaded.push({ plugin: { plugin: null, entry, module: moduleAt(entry, settings.bases), views: null }, fault });
    }
  }
  return { plugins, unloaded, untrusted };
}

/** The module of a plugin that failed to load: its paths are read from it. */
function moduleAt(entry: string, bases: readonly string[]): string | null {
  try {
    return realpathSync(locate(entry, bases));
  } catch {
    return null;
  }
}

/** A SyntaxError's own message does not say that it is one. */
function describe(error: unknown): string {
  return error instanceof Error && error.name !== 'Error' && !(error instanceof Unresolved)
    ? `${error.name}: ${getFaultReason(error)}`
    : getFaultReason(error);
}

class Unresolved extends Error {
  constructor(
    message: string,
    readonly mend: string,
  ) {
    super(message);
  }
}

async function load(entry: string, { bases, plugin_timeout_ms }: LoadSettings): Promise<LoadedPlugin> {
  const file = locate(entry, bases);
  // As Node names it in stack traces.
  const module = realpathSync(file);
  for (const path of new Set([file, dirname(file), module, dirname(module)])) await refuseOpen(path);
  addPluginModule(entry, module);
  const exports = await within(plugin_timeout_ms, 'its import', () =>
    runInPlugin(entry, async () => (await import(pathToFileURL(file).href)) as Record<string, unknown>),
  );
  const plugin = exported(exports);
  return { plugin, entry, module, views: resolveViews(plugin, file) };
}

/**
 * The default export, or the one named `plugin`; what a CommonJS module that was an ES module once wraps in `default`.
 */
function exported(module: Record<string, unknown>): unknown {
  const first = module['default'] ?? module['plugin'];
  const inner = (first as { default?: unknown; plugin?: unknown; setup?: unknown } | null | undefined) ?? null;
  if (inner !== null && typeof inner === 'object' && inner.setup === undefined) {
    return inner.default ?? inner.plugin ?? first;
  }
  return first;
}

/** The module that a plugin names by `from`. */
function getModulePath(plugin: Plugin): string | null {
  const { from } = plugin as { from?: unknown };
  return typeof from === 'string' && /^file:.*\.[cm]?js$/.test(from) ? fileURLToPath(from) : null;
}

/** The folder of its views: its `from` (a module's URL, or the folder itself), else by the module that was opened. */
function resolveViews(plugin: unknown, file: string | null): string | null {
  const from = (plugin as { from?: unknown } | null)?.from;
  if (typeof from !== 'string') return file === null ? null : findViewsFolder(file);
  const path = from.startsWith('file:') ? fileURLToPath(from) : from;
  const absolute = isAbsolute(path) ? path : resolve(file === null ? '.' : dirname(file), path);
  return extname(absolute) === '' ? absolute : findViewsFolder(absolute);
}

/** `views` beside the module; where there is none, as above a `dist`, beside the package.json of its package. */
function findViewsFolder(module: string): string {
  const beside = join(dirname(module), 'views');
  for (let at = dirname(module); at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'views'))) return join(at, 'views');
    if (existsSync(join(at, 'package.json'))) break;
  }
  return beside;
}

function locate(entry: string, bases: readonly string[]): string {
  const isPath = /^\.{0,2}[/\\]|^file:/.test(entry) || entry === '.' || entry === '..' || isAbsolute(entry);
  const isPackage = /^(@[\w.~-]+\/)?[\w~-][\w.~-]*$/.test(entry);
  const found = (isPackage && !isPath ? findPackage(entry, bases) : null) ?? findPath(entry, bases);
  if (found !== null) return found;
  const looked = isPackage && !isPath ? 'no package and no file' : 'no file and no folder';
  throw new Unresolved(
    `${looked} of this name in ${bases.join(' or ')}`,
    'install the package, or write the path relative to the configuration file',
  );
}

function findPath(entry: string, bases: readonly string[]): string | null {
  const path = entry.startsWith('file:') ? fileURLToPath(entry) : entry;
  for (const base of bases) {
    const candidate = resolve(base, path);
    if (!existsSync(candidate)) continue;
    return statSync(candidate).isDirectory() ? resolveEntry(candidate) : candidate;
  }
  return null;
}

/** `node_modules/<name>` in a base or above it. */
function findPackage(name: string, bases: readonly string[]): string | null {
  for (const base of bases) {
    for (let at = resolve(base); ; at = dirname(at)) {
      const folder = join(at, 'node_modules', name);
      if (existsSync(join(folder, 'package.json'))) return resolveEntry(folder);
      if (at === dirname(at)) break;
    }
  }
  return null;
}

/** The module that a folder's package.json names: `exports`, `main`, or index.js. */
function resolveEntry(folder: string): string {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) {
    throw new Unresolved('the folder has no package.json', 'add one with `"type": "module"` and `"exports"`');
  }
  const meta = JSON.parse(readFileSync(path, 'utf8')) as { exports?: unknown; main?: unknown };
  const dot = (meta.exports as Record<string, unknown> | null | undefined)?.['.'];
  const target = pick(dot ?? meta.exports) ?? (typeof meta.main === 'string' ? meta.main : 'index.js');
  const file = resolve(folder, target);
  if (!existsSync(file))
    throw new Unresolved(`its package.json names ${target}, which is not there`, 'build the package');
  return file;
}

/** The first of Node's conditions that applies to an import. */
function pick(target: unknown): string | null {
  if (typeof target === 'string') return target;
  if (target === null || typeof target !== 'object' || Array.isArray(target)) return null;
  for (const [condition, inner] of Object.entries(target)) {
    if (!['node', 'import', 'module-sync', 'default'].includes(condition)) continue;
    const picked = pick(inner);
    if (picked !== null) return picked;
  }
  return null;
}
