/**
 * Builds the update agent as one executable per platform into `build/agent/`, all on one machine:
 * the bundled program is injected into Node's binary (single executable application). Node's
 * binaries come from npm packages, pinned by version and checksum in scripts/agent/runtimes.json.
 * Windows executables are not signed.
 *
 * npm run build:agent (all, with compressed forms; takes minutes)
 *
 * npm run build:agent -- --only linux-x64 --plain (one, without them)
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs, promisify } from 'node:util';
import { build } from 'esbuild-wasm';
import { extract } from 'tar';

const ROOT = join(import.meta.dirname, '..');
const OUT = join(ROOT, 'build', 'agent');
const CACHE = join(ROOT, 'build', 'cache');
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const run = promisify(execFile);
const printLine = (text) => process.stdout.write(`${text}\n`);
const formatMegabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const printStep = (text) => process.stderr.write(`${text}\n`);
async function runStep(name, args, env = process.env) {
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'agent', name), ...args], { stdio: 'inherit', env });
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${name} ended with ${code ?? signal}`);
}
async function computeDigest(algorithm, encoding, path) {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(path), hash);
  return hash.digest(encoding);
}
/** Written by a rename, so that an interrupted build leaves no partial file. */
async function put(path, content) {
  await writeFile(`${path}.tmp`, content);
  await rename(`${path}.tmp`, path);
}

async function buildBinary({ version }, { name, binary, integrity }) {
  const archive = join(CACHE, `${name}-${version}.tgz`);
  if ((await stat(archive).catch(() => null)) === null) {
    printStep(`downloading ${name}@${version}`);
    await run('npm', ['pack', '--silent', '--pack-destination', CACHE, `${name}@${version}`], {
      shell: process.platform === 'win32',
    });
  }
  const got = `sha512-${await computeDigest('sha512', 'base64', archive)}`;
  if (got !== integrity) {
    await rm(archive);
    throw new Error(`${name}@${version} has another checksum than the one it is pinned by: ${got}`);
  }
  const folder = join(CACHE, `${name}-${version}`);
  await mkdir(folder, { recursive: true });
  extract({ file: archive, cwd: folder, sync: true, filter: (path) => path === binary });
  return join(folder, binary);
}

/** Bundles the program and creates the blob, with the Node version that will contain it. */
async function buildBlob(node, windows) {
  const bundle = join(CACHE, 'update-agent.cjs');
  await build({
    entryPoints: [join(ROOT, 'dist', 'clients', 'agent', 'main.js')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // jsonc-parser's CommonJS form loads its parts by a function that bundlers cannot follow.
    mainFields: ['module', 'main'],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    define: {
      'process.env.AOS_AGENT_VERSION': JSON.stringify(version),
      'import.meta.dirname': '""',
      'import.meta.url': '""',
    },
    logLevel: 'warning',
  });
  const config = join(CACHE, 'sea.json');
  const blob = join(CACHE, 'update-agent.blob');
  // No snapshot or code cache, which are platform-specific. The agent ignores NODE_OPTIONS
  // (contract 90), and OpenSSL gets an empty configuration whatever OPENSSL_CONF says.
  const settings = {
    execArgv: [`--openssl-config=${windows ? 'NUL' : '/dev/null'}`],
    useSnapshot: false,
    useCodeCache: false,
    disableExperimentalSEAWarning: true,
    execArgvExtension: 'none',
  };
  await writeFile(config, JSON.stringify({ main: bundle, output: blob, ...settings }));
  await run(node, ['--experimental-sea-config', config]);
  return blob;
}

async function buildExecutable(runtimes, runtime, blob) {
  const name = `update-agent-${runtime}${runtime.startsWith('win-') ? '.exe' : ''}`;
  const source = await buildBinary(runtimes, runtimes.packages[runtime]);
  const work = join(OUT, `${name}.tmp`);
  printStep(`${runtime}: preparing Node's binary`);
  await runStep('prepare.mjs', [runtime, source, work]);
  printStep(`${runtime}: putting the program into it`);
  await runStep('inject.mjs', [work, blob, FUSE]);
  await chmod(work, 0o755);
  const path = join(OUT, name);
  await rename(work, path);
  const { size } = await stat(path);
  printLine(`${name}: ${formatMegabytes(size)}`);
  return { name, runtime, kind: 'agent', size, sha256: await computeDigest('sha256', 'hex', path) };
}

const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
const { values } = parseArgs({ options: { only: { type: 'string', multiple: true }, plain: { type: 'boolean' } } });
const runtimes = JSON.parse(await readFile(join(ROOT, 'scripts', 'agent', 'runtimes.json'), 'utf8'));
const known = Object.keys(runtimes.packages);
const wanted = values.only ?? known;
const unknown = wanted.filter((runtime) => !known.includes(runtime));
if (unknown.length > 0) throw new Error(`there is no runtime ${unknown.join(', ')}; there are ${known.join(', ')}`);
const host = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
if (!known.includes(host)) throw new Error(`the agents are built on ${known.join(', ')}, not on ${host}`);

await mkdir(OUT, { recursive: true });
await mkdir(CACHE, { recursive: true });
const node = await buildBinary(runtimes, runtimes.packages[host]);
const files = [];
for (const windows of [true, false]) {
  const alike = wanted.filter((runtime) => runtime.startsWith('win-') === windows);
  const blob = alike.length === 0 ? null : await buildBlob(node, windows);
  for (const runtime of alike) files.push(await buildExecutable(runtimes, runtime, blob));
}
const paths = files.map(({ name }) => join(OUT, name));
for (const path of paths) for (const ending of ['.br', '.gz']) await rm(path + ending, { force: true });
if (!values.plain)
  await runStep('compress.mjs', paths, { ...process.env, UV_THREADPOOL_SIZE: String(availableParallelism()) });
const epoch = process.env['SOURCE_DATE_EPOCH'];
const generated_at = new Date(epoch === undefined ? Date.now() : Number(epoch) * 1000).toISOString();
await put(join(OUT, 'installer.json'), `${JSON.stringify({ schema: 1, version, generated_at, files }, null, 2)}\n`);
printLine(`${join('build', 'agent', 'installer.json')}: version ${version}. Windows executables are not signed.`);
