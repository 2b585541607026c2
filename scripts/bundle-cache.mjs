// Started by bundle.mjs: serves until SIGTERM, then writes what V8 has compiled of the bundle. V8 takes it back under
// the same options only: those of a start.
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { starting } from '../dist/cli/engine-flags.js';
import { bundle } from '../dist/cli/program.js';

const FILE = join(import.meta.dirname, '..', 'dist', 'bundle', 'aos.js.cache');

const { script, load } = bundle();
const code = await load().perform('serve', []);
if (code !== 0) process.exit(code);
starting();
// The name comes with the whole content: a start meanwhile finds all or nothing.
await writeFile(`${FILE}.new`, script.createCachedData());
await rename(`${FILE}.new`, FILE);
process.exit(0);
