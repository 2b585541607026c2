/**
 * Resolves `aos/…` imports of external plugins to this service's modules. A second copy would have
 * its own classes (`View`, `ServiceError`). Other packages remain the plugin's own.
 */
import * as nodeModule from 'node:module';

const SERVICE_URL = import.meta.url;
const OWN_MODULE_PATTERN = /^aos\/(plugin|domain|lib\/.*)$/;

interface ResolveContext {
  parentURL?: string;
}
type NextResolve = (specifier: string, context: ResolveContext) => unknown;

export function resolve(specifier: string, context: ResolveContext, next: NextResolve): unknown {
  return next(specifier, OWN_MODULE_PATTERN.test(specifier) ? { ...context, parentURL: SERVICE_URL } : context);
}

let isRegistered = false;

export async function shareContract(): Promise<void> {
  if (isRegistered) return;
  isRegistered = true;
  // Newer Node versions deprecate the alternative.
  const { registerHooks } = nodeModule as { registerHooks?: (hooks: { resolve: typeof resolve }) => void };
  if (registerHooks !== undefined) registerHooks({ resolve });
  else {
    nodeModule.register(SERVICE_URL);
    await import('node:path');
  }
}
