// Bundles the update agent, its test variant and the packager into one file each with a V8 code
// cache, because tests start them hundreds of times. Also builds the SDK's package in build/sdk.
// Does nothing when nothing was compiled since.
import { execFile } from 'node:child_process';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build, stop } from 'esbuild-wasm';
import { buildSdk, SDK } from './build-sdk.mjs';

const DIST = join(import.meta.dirname, '..', 'dist');
const OUT = join(DIST, 'test', 'bundled');
const PROGRAMS = {
  agent: 'clients/agent/main.js',
  'faulty-agent': 'test/e2e/clients/agent/faulty.js',
  packager: 'clients/packager/packager.js',
};

const getModifiedTime = (path) =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
const getCachePath = (name) => join(OUT, `${name}.code.js.cache`);

/** Starts `<name>.code.js` from V8's code cache. */
const renderStarter = (name) => `const { existsSync, readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const FILE = join(__dirname, '${name}.code.js');
const CACHE = FILE + '.cache';
const cachedData = existsSync(CACHE) ? readFileSync(CACHE) : undefined;
const script = new Script(readFileSync(FILE, 'latin1'), { filename: FILE, ...(cachedData && { cachedData }) });
script.runInThisContext()(createRequire(FILE), FILE, __dirname);
module.exports = script;
`;

/** Same options as in build-agent.mjs, for the Node that runs the tests. */
const writeMonitoringFiles = (entries, options) =>
  build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(DIST, file)])),
    outdir: OUT,
    bundle: true,
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
    ...options,
  });

const SCRIPT = {
  format: 'cjs',
  // A script has no `import()`.
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': '__url' },
  banner: {
    js: `(function (require, __filename, __dirname) {
const __url = require('node:url').pathToFileURL(__filename).href;`,
  },
  footer: { js: '})' },
};

/** V8 accepts a code cache only under the same options, those of a start. */
async function writeCache(name) {
  const made = `${getCachePath(name)}.new`;
  const program = `const script = require(${JSON.stringify(join(OUT, `${name}.cjs`))});
process.once('exit', () => require('node:fs').writeFileSync(${JSON.stringify(made)}, script.createCachedData()));`;
  await promisify(execFile)(process.execPath, ['-e', program, '--', name, '--help'], { env: {} });
  await rename(made, getCachePath(name));
}

async function bundleClients() {
  const names = Object.keys(PROGRAMS);
  const [built, ...made] = await Promise.all(
    [join(DIST, '.tsbuildinfo'), ...names.map(getCachePath)].map(getModifiedTime),
  );
  await buildSdk(SDK);
  if (made.every((time) => time >= built)) return stop();
  // V8 would accept a stale cache of code with the same length.
  await rm(OUT, { recursive: true, force: true });
  await writeMonitoringFiles(Object.fromEntries(names.map((name) => [`${name}.code`, PROGRAMS[name]])), SCRIPT);
  await stop();
  await Promise.all(names.map((name) => writeFile(join(OUT, `${name}.cjs`), renderStarter(name))));
  await Promise.all(names.map(writeCache));
}

await bundleClients();
