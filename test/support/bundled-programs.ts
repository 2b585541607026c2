/** Single-file bundles of programs that tests start often (scripts/bundle-clients.mjs). */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runAndGetOutput } from './programs.js';

const DIST = new URL('../../', import.meta.url);
const ROOT = fileURLToPath(new URL('..', DIST));

/**
 * Returns the path of the bundled program if it is current, otherwise of the compiled one.
 * @param compiled below `dist/`
 */
export function resolveProgram(compiled: string, bundled: string): string {
  const at = fileURLToPath(new URL(`test/bundled/${bundled}`, DIST));
  const built = statSync(new URL('.tsbuildinfo', DIST)).mtimeMs;
  return existsSync(at) && statSync(at).mtimeMs >= built ? at : fileURLToPath(new URL(compiled, DIST));
}

export async function buildSdk(): Promise<string> {
  await runAndGetOutput(process.execPath, ['scripts/build-sdk.mjs'], { cwd: ROOT });
  return join(ROOT, 'build', 'sdk');
}
