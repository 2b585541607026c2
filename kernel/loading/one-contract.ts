/**
 * Plugins from outside get this service's own `aos/…` modules, wherever they lie and whatever they brought along: a
 * second copy would have classes of its own (`View`, `ServiceError`), and a plugin beside the service would find none
 * at all.
 *
 * Node loads what a plugin names through this; the plugin's own packages stay its own.
 */
import * as nodeModule from 'node:module';

/** Only this service's package can say where its `aos/…` modules are. */
const HERE = import.meta.url;
const OURS = /^aos\/(plugin|domain|lib\/.*)$/;

interface Context {
  parentURL?: string;
}
type Next = (specifier: string, context: Context) => unknown;

/** Node's resolve hook. */
export function resolve(specifier: string, context: Context, next: Next): unknown {
  return next(specifier, OURS.test(specifier) ? { ...context, parentURL: HERE } : context);
}

let shared = false;

/** From now on; once. Resolves when the hook answers, so that no plugin's own time is spent on its start. */
export async function shareContract(): Promise<void> {
  if (shared) return;
  shared = true;
  // Newer versions run hooks in this thread, and have deprecated the other way.
  const { registerHooks } = nodeModule as { registerHooks?: (hooks: { resolve: typeof resolve }) => void };
  if (registerHooks !== undefined) registerHooks({ resolve });
  else {
    nodeModule.register(HERE);
    await import('node:path');
  }
}
