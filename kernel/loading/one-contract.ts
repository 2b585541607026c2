/**
 * Resolves `aos/…` imports of external plugins to this service's modules. A second copy would have
 * its own classes (`View`, `ServiceError`). Other packages remain the plugin's own.
 */
import * as nodeModule from 'node:module';

/** Only this service's package can resolve its `aos/…` modules. */
const HERE = import.meta.url;
const OWN_MODULE = /^aos\/(plugin|domain|lib\/.*)$/;

interface Context {
  parentURL?: string;
}
type Next = (specifier: string, context: Context) => unknown;

export function resolve(specifier: string, context: Context, next: Next): unknown {
  return next(specifier, OWN_MODULE.test(specifier) ? { ...context, parentURL: HERE } : context);
}

let isRegistered = false;

export async function shareContract(): Promise<void> {
  if (isRegistered) return;
  isRegistered = true;
  // Newer Node versions run hooks in this thread and deprecate the alternative.
  const { registerHooks } = nodeModule as { registerHooks?: (hooks: { resolve: typeof resolve }) => void };
  if (registerHooks !== undefined) registerHooks({ resolve });
  else {
    nodeModule.register(HERE);
    await import('node:path');
  }
}
