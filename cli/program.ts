/**
 * Where the code of a command comes from. The build puts it into one file with its libraries, and what V8 compiled of
 * it beside that (scripts/bundle.mjs): to find, read and compile a thousand files was a third of every start. The files
 * themselves are run when they were compiled after the bundle was made. Plugins from outside get the modules of what
 * runs (kernel/loading/one-contract.ts).
 *
 * `node --enable-source-maps` shows the files in stack traces of the bundle as well.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import type * as Outside from '../kernel/loading/outside.js';
import type * as Perform from './perform.js';

type Program = typeof Perform;
type Wrapper = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  file: string,
  folder: string,
  load: typeof Outside.importOutside,
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

/**
 * The bytes of a file, in memory that goes back to the system with them. What malloc gave and got back in such a size
 * it gives out of its own store from then on, and that was 10 MB at the end of a start. An array that may be resized,
 * as this one could be, has its pages from the system itself.
 */
function bytesOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const resizable: { maxByteLength: number } = { maxByteLength: size };
    const bytes = Buffer.from(new (ArrayBuffer as new (size: number, how: object) => ArrayBuffer)(size, resizable));
    for (let at = 0; at < size;) {
      const read = readSync(file, bytes, at, size - at, at);
      if (read === 0) throw new Error(`${path} became shorter while it was read`);
      at += read;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}

function codeOf(path: string): Buffer | undefined {
  try {
    return bytesOf(path);
  } catch {
    return undefined;
  }
}

/** Nothing of the kernel is loaded before a plugin from outside is. */
const outside: typeof Outside.importOutside = async (url) =>
  (await import('../kernel/loading/outside.js')).importOutside(url);

/** The bundle as V8 takes it. Compiled code that it did not make itself, with these options, it leaves aside. */
export function bundle(): { script: Script; load: () => Program } {
  const cachedData = codeOf(`${FILE}.cache`);
  // Its letters are ASCII alone. Nothing else waits, and the other way decodes 5 MB piece by piece.
  const text = bytesOf(FILE).toString('latin1');
  const script = new Script(text, { filename: FILE, ...(cachedData === undefined ? {} : { cachedData }) });
  const load = (): Program => {
    const module = { exports: {} };
    const wrapper = script.runInThisContext() as Wrapper;
    wrapper(module.exports, createRequire(FILE), module, FILE, dirname(FILE), outside);
    return module.exports as Program;
  };
  return { script, load };
}

let loaded: Promise<Program> | undefined;

/** Once, so that plugins from outside meet one copy of it. */
export function program(): Promise<Program> {
  loaded ??= bundleIsCurrent().then(async (current) => {
    const made = await (current ? bundle().load() : import('./perform.js'));
    return made;
  });
  return loaded;
}
