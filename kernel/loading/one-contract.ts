/**
 * Plugins from outside get this service's own `aos/…` modules, wherever they lie and whatever they brought along: a
 * second copy would have classes of its own (`View`, `ServiceError`), and a plugin beside the service would find none
 * at all.
 *
 * Node loads what a plugin names through this; the plugin's own packages stay its own.
 */
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { bundled, type BundledModules } from './bundled.js';

/** Only this service's package can say where its `aos/…` modules are. */
const HERE = import.meta.url;
const DIST = new URL('../../', HERE);
const OURS = /^aos\/(plugin|domain|lib\/.*)$/;

interface Context {
  conditions: readonly string[];
  parentURL?: string;
}
type Next = (specifier: string, context: Context) => unknown;

/** Whether the bundle runs, so that its doors are opened instead of the files. */
let doors = bundled !== null;

/** Node's, where hooks run in a thread of their own, from the file of this module. */
export function initialize(data: { doors: boolean }): void {
  doors = data.doors;
}

/** Node's resolve hook. What is required needs no door (`handOut`). */
export function resolve(specifier: string, context: Context, next: Next): unknown {
  if (!OURS.test(specifier)) return next(specifier, context);
  if (doors && !context.conditions.includes('require'))
    return next(new URL(`bundle/${specifier}.mjs`, DIST).href, context);
  return next(specifier, { ...context, parentURL: HERE });
}

/** Whoever requires one of these files gets what the bundle has of it: the doors, and plugins in CommonJS. */
function handOut(modules: BundledModules): void {
  const { cache } = nodeModule.createRequire(HERE);
  for (const [file, module] of Object.entries(modules)) {
    const path = fileURLToPath(new URL(file, DIST));
    const entry = new nodeModule.Module(path);
    entry.filename = path;
    entry.loaded = true;
    Object.defineProperty(entry, 'exports', { get: module });
    cache[path] = entry;
  }
}

let shared = false;

/** From now on; once. Resolves when the hook answers, so that no plugin's own time is spent on its start. */
export async function shareContract(): Promise<void> {
  if (shared) return;
  shared = true;
  if (bundled !== null) handOut(bundled);
  // Newer versions run hooks in this thread, and have deprecated the other way.
  const { registerHooks } = nodeModule as { registerHooks?: (hooks: { resolve: typeof resolve }) => void };
  if (registerHooks !== undefined) registerHooks({ resolve });
  else {
    nodeModule.register(HERE, { data: { doors } });
    await import('node:path');
  }
}
