/** Programs that tests start often, in one file each as the runner makes them (scripts/bundle-clients.mjs). */
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DIST = new URL('../../', import.meta.url);

/**
 * The path of the bundled program where that is of this build, otherwise of the compiled one.
 * @param compiled below `dist/`
 */
export function bundledOr(compiled: string, bundled: string): string {
  const at = fileURLToPath(new URL(`test/bundled/${bundled}`, DIST));
  const built = statSync(new URL('.tsbuildinfo', DIST)).mtimeMs;
  return existsSync(at) && statSync(at).mtimeMs >= built ? at : fileURLToPath(new URL(compiled, DIST));
}
