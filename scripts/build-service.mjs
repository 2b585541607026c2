/**
 * Builds the service for the packager into `build/service/<platform>/`: the files of its npm
 * package with its runtime libraries, and next to it the packager.json that publishes it. Another
 * AOS then distributes it like any other application (docs/systemd.md).
 *
 * npm run build:service -- [--platform linux-x64|linux-arm64|win-x64] [--output <folder>]
 * [--package <file>]
 *
 * --package takes an existing `npm pack` file, to build several platforms from one package.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
/** npm's platform options, for libraries with native code. */
const PLATFORMS = {
  'linux-x64': ['--os=linux', '--cpu=x64', '--libc=glibc'],
  'linux-arm64': ['--os=linux', '--cpu=arm64', '--libc=glibc'],
  'win-x64': ['--os=win32', '--cpu=x64'],
};
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];
/** Starts the service: the agent runs this entry when no service is named. */
const ENTRY = `process.argv.push('serve');
await import('./dist/main.js');
`;

const run = (program, args, cwd) => promisify(execFile)(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
const runNpm = async (args, cwd) => (await run('npm', [...args, ...QUIET], cwd)).stdout;

const { values } = parseArgs({
  options: {
    platform: { type: 'string', default: `${process.platform === 'win32' ? 'win' : 'linux'}-${process.arch}` },
    output: { type: 'string', default: join(ROOT, 'build', 'service') },
    package: { type: 'string' },
  },
});
const system = PLATFORMS[values.platform];
if (system === undefined) throw new Error(`--platform is one of ${Object.keys(PLATFORMS).join(', ')}`);

const output = resolve(values.output);
const folder = join(output, values.platform);
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const unpack = (file) => run('tar', ['-xzf', file, '-C', folder, '--strip-components=1']);
if (values.package === undefined) {
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', output];
  const [{ filename }] = JSON.parse(await runNpm(pack, ROOT));
  await unpack(join(output, filename));
  await rm(join(output, filename));
} else await unpack(resolve(values.package));
await copyFile(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'));
await runNpm(['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', ...system], folder);
// Links, which packages must not contain and which are not needed.
await rm(join(folder, 'node_modules', '.bin'), { recursive: true, force: true });
// Not executed; example addresses and tokens in guides would each cause a warning.
const UNUSED =
  /(^|[\\/])README\.md$|[\\/]docs[\\/].*\.md$|\.map$|\.d\.[cm]?ts$|\.test\.ts$|^@libsql[\\/][^\\/]*-musl[\\/]/;
const libraries = join(folder, 'node_modules');
for (const path of await readdir(libraries, { recursive: true }))
  if (UNUSED.test(path)) await rm(join(libraries, path), { recursive: true, force: true });
await writeFile(join(folder, 'serve.mjs'), ENTRY);

const configuration = {
  project: 'aos',
  platform: values.platform,
  publishDir: values.platform,
  entry: 'serve.mjs',
  // Guides are read in the sources.
  excludePatterns: ['README.md', 'docs/*.md', 'docs/decisions/**', 'docs/images/**', 'docs/spec/**'],
};
await writeFile(join(output, 'packager.json'), `${JSON.stringify(configuration, null, 2)}\n`);
const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
process.stdout.write(`${folder}: ${name} ${version}\n`);
