/**
 * What a thread runs: its module in one file with all that it imports, where the build made one of it
 * (scripts/bundle.mjs), otherwise the module itself. To find, read and compile forty files takes longer than all else
 * that a thread does before its first answer.
 */
import { statSync } from 'node:fs';

const DIST = new URL('../..', import.meta.url);
/** Not in the package. */
const BUILT = new URL('.tsbuildinfo', DIST);

const changed = (file: URL): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** @param module below `dist/` */
export function threadModule(module: URL): URL {
  const name = module.href.slice(DIST.href.length).replaceAll('/', '.');
  const bundled = new URL(`bundle/${name.replace(/\.js$/, '.cjs')}`, DIST);
  const made = changed(bundled);
  return made > 0 && made >= changed(BUILT) ? bundled : module;
}
