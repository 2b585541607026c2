/**
 * Builds the client SDK as a package into `build/sdk/`: bundles for ES modules, `require` and
 * browsers, each with declarations. Run `npm pack` there to make the tarball. Does nothing when the
 * folder is up to date.
 *
 * npm run build:sdk
 *
 * node scripts/build-sdk.mjs FOLDER (another folder, which is recreated)
 */
import { realpathSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { build, stop } from 'esbuild-wasm';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
export const SDK = join(ROOT, 'build', 'sdk');
/** The nearest package.json determines the module kind of a declaration. */
const FORMS = {
  esm: { type: 'module', entry: 'clients/sdk/index', platform: 'node', target: 'node20', format: 'esm' },
  cjs: { type: 'commonjs', entry: 'clients/sdk/index', platform: 'node', target: 'node20', format: 'cjs' },
  browser: { type: 'module', entry: 'clients/sdk/browser/index', platform: 'browser', target: 'es2022', format: 'esm' },
};

const SOURCES = [
  join(DIST, '.tsbuildinfo'),
  join(ROOT, 'package.json'),
  join(ROOT, 'clients', 'sdk', 'README.md'),
  import.meta.filename,
];

const put = (path, value) => writeFile(path, `${JSON.stringify(value, null, 2)}\n`);

async function readDeclarations(entry) {
  const found = new Map();
  const waiting = [entry];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (found.has(path)) continue;
    const text = await readFile(join(DIST, `${path}.d.ts`), 'utf8');
    found.set(path, text.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
    for (const [, module] of text.matchAll(/ from '(\.{1,2}\/[^']+)\.js';/g))
      waiting.push(posix.join(posix.dirname(path), module));
  }
  return found;
}

const getModifiedTime = (path) =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/** The README is written last. */
async function isFresh(out) {
  const [made, ...sources] = await Promise.all([join(out, 'README.md'), ...SOURCES].map(getModifiedTime));
  return made >= Math.max(...sources);
}

/**
 * @param out recreated unless it is up to date. The bundler keeps running for the caller.
 * @returns the version
 */
export async function buildSdk(out) {
  const { version, license } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  if (await isFresh(out)) return version;
  await rm(out, { recursive: true, force: true });
  const exported = {};
  for (const [form, { type, entry, platform, target, format }] of Object.entries(FORMS)) {
    const folder = join(out, form);
    await build({
      entryPoints: [join(DIST, `${entry}.js`)],
      outfile: join(folder, 'index.js'),
      bundle: true,
      platform,
      target,
      format,
      legalComments: 'none',
      logLevel: 'warning',
    });
    await put(join(folder, 'package.json'), { type });
    for (const [path, text] of await readDeclarations(entry)) {
      const file = join(folder, 'types', `${path}.d.ts`);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    exported[form] = { types: `./${form}/types/${entry}.d.ts`, default: `./${form}/index.js` };
  }
  await put(join(out, 'package.json'), {
    name: '@aos/sdk',
    version,
    description: 'Updates, licenses, error reports and heartbeats of an application, by an AOS server',
    license,
    engines: { node: '>=20' },
    sideEffects: false,
    main: exported.cjs.default,
    types: exported.cjs.types,
    exports: {
      '.': { browser: exported.browser, import: exported.esm, require: exported.cjs },
      './browser': exported.browser,
      './package.json': './package.json',
    },
    files: ['esm/', 'cjs/', 'browser/', 'README.md'],
  });
  await copyFile(join(ROOT, 'clients', 'sdk', 'README.md'), join(out, 'README.md'));
  return version;
}

const [, started] = process.argv;
if (started !== undefined && realpathSync(started) === import.meta.filename) {
  const out = resolve(process.argv[2] ?? SDK);
  const version = await buildSdk(out);
  // Ends the bundler's process, which holds this one's output. Newer versions of Node may hang when
  // they exit while compiling (nodejs/node 54918).
  await stop();
  process.stdout.write(`${relative(process.cwd(), out)}: @aos/sdk ${version}\n`);
}
