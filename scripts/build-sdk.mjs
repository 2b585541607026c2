/**
 * Builds the client SDK as its own package into `build/sdk/`: one bundle as an ES module and one for `require`, each with the
 * declarations that its users' compilers read. `npm pack` there makes the tarball.
 *
 *   npm run build:sdk
 */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { build } from 'esbuild-wasm';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist', 'clients');
const OUT = join(ROOT, 'build', 'sdk');
const ENTRY = 'sdk/index';
/** A declaration is read as the kind of module that the nearest package.json says. */
const FORMS = { esm: 'module', cjs: 'commonjs' };

const put = (path, value) => writeFile(path, `${JSON.stringify(value, null, 2)}\n`);

/** The entry's declarations and those that they name, by path below `clients`. */
async function declarations() {
  const found = new Map();
  const waiting = [ENTRY];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (found.has(path)) continue;
    const text = await readFile(join(DIST, `${path}.d.ts`), 'utf8');
    found.set(path, text.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
    for (const [, module] of text.matchAll(/ from '(\.{1,2}\/[^']+)\.js';/g))
      waiting.push(posix.join(posix.dirname(path), module));
  }
  return found;
}

const { version, license } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
const types = await declarations();
await rm(OUT, { recursive: true, force: true });
const entry = {};
for (const [format, type] of Object.entries(FORMS)) {
  const folder = join(OUT, format);
  await build({
    entryPoints: [join(DIST, `${ENTRY}.js`)],
    outfile: join(folder, 'index.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    legalComments: 'none',
    logLevel: 'warning',
  });
  await put(join(folder, 'package.json'), { type });
  for (const [path, text] of types) {
    const file = join(folder, 'types', `${path}.d.ts`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  entry[format] = { types: `./${format}/types/${ENTRY}.d.ts`, default: `./${format}/index.js` };
}
await put(join(OUT, 'package.json'), {
  name: '@aos/sdk',
  version,
  description: 'Updates, licenses, error reports and heartbeats of an application, by an AOS server',
  license,
  engines: { node: '>=20' },
  sideEffects: false,
  main: entry.cjs.default,
  types: entry.cjs.types,
  exports: { '.': { import: entry.esm, require: entry.cjs }, './package.json': './package.json' },
  files: ['esm/', 'cjs/', 'README.md'],
});
await copyFile(join(ROOT, 'clients', 'sdk', 'README.md'), join(OUT, 'README.md'));
process.stdout.write(`${join('build', 'sdk')}: @aos/sdk ${version}\n`);
