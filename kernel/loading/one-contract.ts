/**
 * Resolves `aos/…` modules that plugins from outside import to this service's own, wherever the
 * plugin lies and whatever it brought along: a second copy would have classes of its own (`View`,
 * `ServiceError`). Other packages stay the plugin's own.
 */
import * as nodeModule from 'node:module';

/** Only this service's package can resolve its `aos/…` modules. */
const HERE = import.meta.url;
const OWN_MODULE = /^aos\/(plugin|domain|lib\/.*)$/;

interface Context {
  parentURL?: string;
}
type Next = (specifier: string, context: Context) => unknown;

/** Resolve hook of Node. */
export function resolve(specifier: string, context: Context, next: Next): unknown {
  return next(specifier, OWN_MODULE.test(specifier) ? { ...context, parentURL: HERE } : context);
}

let isRegistered = false;

/** Registers the hook, once. Resolves when it is active. */
export async function shareContract(): Promise<void> {
  if (isRegistered) return;
  isRegistered = true;
  // Newer versions of Node run hooks in this thread, and have deprecated the other way.
  const { registerHooks } = nodeModule as { registerHooks?: (hooks: { resolve: typeof resolve }) => void };
  if (registerHooks !== undefined) registerHooks({ resolve });
  else {
    nodeModule.register(HERE);
    await import('node:path');
  }
}
