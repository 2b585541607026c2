/**
 * Loads the built-in plugins and those under `plugins` in the configuration (package, folder or
 * module file).
 */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { requireRestrictedFile, UntrustedFile } from '../../lib/files/trusted-file.js';
import type { Plugin } from '../contract/index.js';
import { getFaultReason, type Fault } from '../faults.js';
import { BUILT_IN, type LoadedPlugin } from '../manifest.js';
import { shareContract } from './contract-resolver.js';
import { addPluginModule, runInPlugin } from './error-attribution.js';
import { runWithTimeout } from '../timeout.js';

export interface LoadSettings {
  entries: readonly string[];
  bases: readonly string[];
  plugin_timeout_ms: number;
  builtinTested?: boolean;
}

export interface LoadedPlugins {
  plugins: LoadedPlugin[];
  unloaded: { plugin: LoadedPlugin; fault: Fault }[];
  /** Plugin files that others can write, which prevents the start. */
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
      plugins.push(await loadPlugin(entry, settings));
    } catch (error) {
      const fix =
        error instanceof UnresolvedPluginError ? error.fix : 'fix the module, or remove the entry from `plugins`';
      const fault = { plugin: entry, fault: `cannot be loaded: ${describeError(error)}`, fix };
      if (error instanceof UntrustedFile) untrusted.push(fault);
      else
        unloaded.push({
          plugin: { plugin: null, entry, module: findModule(entry, settings.bases), views: null },
          fault,
        });
    }
  }
  return { plugins, unloaded, untrusted };
}

function findModule(entry: string, bases: readonly string[]): string | null {
  try {
    return realpathSync(resolvePath(entry, bases));
  } catch {
    return null;
  }
}

/** A SyntaxError's message does not name its type. */
function describeError(error: unknown): string {
  return error instanceof Error && error.name !== 'Error' && !(error instanceof UnresolvedPluginError)
    ? `${error.name}: ${getFaultReason(error)}`
    : getFaultReason(error);
}

class UnresolvedPluginError extends Error {
  constructor(
    message: string,
    readonly fix: string,
  ) {
    super(message);
  }
}

async function loadPlugin(entry: string, { bases, plugin_timeout_ms }: LoadSettings): Promise<LoadedPlugin> {
  const file = resolvePath(entry, bases);
  // As Node names it in stack traces.
  const module = realpathSync(file);
  for (const path of new Set([file, dirname(file), module, dirname(module)])) await requireRestrictedFile(path);
  addPluginModule(entry, module);
  const exports = await runWithTimeout(plugin_timeout_ms, 'its import', () =>
    runInPlugin(entry, async () => (await import(pathToFileURL(file).href)) as Record<string, unknown>),
  );
  const plugin = getExportedPlugin(exports);
  return { plugin, entry, module, views: resolveViews(plugin, file) };
}

/** Unwraps the `default` of transpiled CommonJS. */
function getExportedPlugin(module: Record<string, unknown>): unknown {
  const first = module['default'] ?? module['plugin'];
  const inner = (first as { default?: unknown; plugin?: unknown; setup?: unknown } | null | undefined) ?? null;
  if (inner !== null && typeof inner === 'object' && inner.setup === undefined) {
    return inner.default ?? inner.plugin ?? first;
  }
  return first;
}

function getModulePath(plugin: Plugin): string | null {
  const { from } = plugin as { from?: unknown };
  return typeof from === 'string' && /^file:.*\.[cm]?js$/.test(from) ? fileURLToPath(from) : null;
}

function resolveViews(plugin: unknown, file: string | null): string | null {
  const from = (plugin as { from?: unknown } | null)?.from;
  if (typeof from !== 'string') return file === null ? null : findViewsFolder(file);
  const path = from.startsWith('file:') ? fileURLToPath(from) : from;
  const absolute = isAbsolute(path) ? path : resolve(file === null ? '.' : dirname(file), path);
  return extname(absolute) === '' ? absolute : findViewsFolder(absolute);
}

/** Next to the module, or to its package.json. */
function findViewsFolder(module: string): string {
  const siblingFolder = join(dirname(module), 'views');
  for (let at = dirname(module); at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'views'))) return join(at, 'views');
    if (existsSync(join(at, 'package.json'))) break;
  }
  return siblingFolder;
}

function resolvePath(entry: string, bases: readonly string[]): string {
  const isPath = /^\.{0,2}[/\\]|^file:/.test(entry) || entry === '.' || entry === '..' || isAbsolute(entry);
  const isPackage = /^(@[\w.~-]+\/)?[\w~-][\w.~-]*$/.test(entry);
  const found = (isPackage && !isPath ? findPackage(entry, bases) : null) ?? findPath(entry, bases);
  if (found !== null) return found;
  const looked = isPackage && !isPath ? 'no package or file' : 'no file or folder';
  throw new UnresolvedPluginError(
    `${looked} with this name in ${bases.join(' or ')}`,
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

function resolveEntry(folder: string): string {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) {
    throw new UnresolvedPluginError(
      'the folder has no package.json',
      'add one with `"type": "module"` and `"exports"`',
    );
  }
  const meta = JSON.parse(readFileSync(path, 'utf8')) as { exports?: unknown; main?: unknown };
  const dot = (meta.exports as Record<string, unknown> | null | undefined)?.['.'];
  const target = resolveCondition(dot ?? meta.exports) ?? (typeof meta.main === 'string' ? meta.main : 'index.js');
  const file = resolve(folder, target);
  if (!existsSync(file))
    throw new UnresolvedPluginError(`its package.json refers to ${target}, which does not exist`, 'build the package');
  return file;
}

function resolveCondition(target: unknown): string | null {
  if (typeof target === 'string') return target;
  if (target === null || typeof target !== 'object' || Array.isArray(target)) return null;
  for (const [condition, inner] of Object.entries(target)) {
    if (!['node', 'import', 'module-sync', 'default'].includes(condition)) continue;
    const picked = resolveCondition(inner);
    if (picked !== null) return picked;
  }
  return null;
}
