/** Programs that tests start often, in one file each as the runner makes them (scripts/bundle-clients.mjs). */
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { done } from './programs.js';

const DIST = new URL('../../', import.meta.url);

/**
 * The path of the bundled program where that is of this build, otherwise of the compiled one.
 * @param compiled below `dist/`
 */
export function bundledOr(compiled: string, bundled: string): string {
  return madeOf(bundled) ?? fileURLToPath(new URL(compiled, DIST));
}

/** null: there is none of this build. */
function madeOf(bundled: string): string | null {
  const at = fileURLToPath(new URL(`test/bundled/${bundled}`, DIST));
  const built = statSync(new URL('.tsbuildinfo', DIST)).mtimeMs;
  return existsSync(at) && statSync(at).mtimeMs >= built ? at : null;
}

/**
 * The SDK's package, where that of this build and of this README is there, otherwise made.
 * @param folder for one that is made
 */
export async function builtSdk(folder: string): Promise<string> {
  const made = madeOf('sdk');
  const readme = statSync(new URL('../clients/sdk/README.md', DIST)).mtimeMs;
  if (made !== null && statSync(made).mtimeMs >= readme) return made;
  await done(process.execPath, ['scripts/build-sdk.mjs', folder], { cwd: fileURLToPath(new URL('..', DIST)) });
  return folder;
}
