/**
 * Where the code of a command comes from. The build puts it into one file with its libraries, and what V8 compiled of
 * it beside that (scripts/bundle.mjs): to find, read and compile a thousand files was a third of every start. The files
 * themselves are run where they have to be:
 *
 * - with plugins from outside, which share classes with the service, file by file (kernel/loading/one-contract.ts);
 * - when they were compiled after the bundle was made.
 *
 * `node --enable-source-maps` shows the files in stack traces of the bundle as well.
 */
import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { outsidePluginsAreNamed } from '../config/plugins-named.js';
import type * as Perform from './perform.js';

type Program = typeof Perform;
type Wrapper = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  file: string,
  folder: string,
) => void;

const DIST = join(import.meta.dirname, '..');
const FILE = join(DIST, 'bundle', 'aos.js');
/** Not in the package. */
const BUILT = join(DIST, '.tsbuildinfo');

const changed = async (path: string): Promise<number | null> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );

async function bundleIsCurrent(): Promise<boolean> {
  const [bundle, built] = await Promise.all([changed(FILE), changed(BUILT)]);
  return bundle !== null && bundle >= (built ?? 0);
}

/** The bundle as V8 takes it. Compiled code that it did not make itself, with these options, it leaves aside. */
export async function bundle(): Promise<{ script: Script; load: () => Program }> {
  const cachedData = await readFile(`${FILE}.cache`).catch(() => undefined);
  // Its letters are ASCII alone. Nothing else waits, and the other way decodes 7 MB piece by piece.
  const text = readFileSync(FILE, 'latin1');
  const script = new Script(text, { filename: FILE, ...(cachedData === undefined ? {} : { cachedData }) });
  const load = (): Program => {
    const module = { exports: {} };
    const wrapper = script.runInThisContext() as Wrapper;
    wrapper(module.exports, createRequire(FILE), module, FILE, dirname(FILE));
    return module.exports as Program;
  };
  return { script, load };
}

export async function program(): Promise<Program> {
  if ((await outsidePluginsAreNamed()) || !(await bundleIsCurrent())) return import('./perform.js');
  return (await bundle()).load();
}
