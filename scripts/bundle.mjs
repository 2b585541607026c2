// Writes `dist/bundle/aos.js`: the command line with everything behind it, and its libraries, in one file; beside it a
// source map, and what V8 compiled during a first start (cli/program.ts). Does nothing when nothing was compiled since.
//
// The bundle is made of what tsc wrote, so it has the same code, names of classes and metadata of decorators. Threads,
// views, guides and assets stay files; `import.meta` of a module says where its own file lies.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { build, stop } from 'esbuild-wasm';

const DIST = join(import.meta.dirname, '..', 'dist');
const FILE = join(DIST, 'bundle', 'aos.js');

/** What Node has to load itself: machine code, and what a library asks for only where it is installed. */
const EXTERNAL = [
  'libsql',
  'pino-pretty',
  '@mongodb-js/zstd',
  'aws4',
  'gcp-metadata',
  'kerberos',
  'mongodb-client-encryption',
  'snappy',
  'socks',
];

const fresh = async () => {
  const times = await Promise.all(
    [`${FILE}.cache`, join(DIST, '.tsbuildinfo'), join(DIST, '..', 'package-lock.json'), import.meta.filename].map(
      (path) =>
        stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
    ),
  );
  return times[0] >= Math.max(...times);
};

/**
 * Text of other alphabets, in comments and regular expressions, as escapes: with one such letter V8 holds the whole
 * text of the program, which it keeps for as long as the process lives, in two bytes a letter.
 */
const inAscii = (path, text) => {
  if (/String\.raw\s*`[^`]*[^\0-\x7f]/.test(text)) throw new Error(`${path}: a raw text in other letters than ASCII`);
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
};

/** Each of our modules knows its own place. No plugin from outside is loaded from here, see cli/program.ts. */
const places = {
  name: 'places',
  setup(bundle) {
    bundle.onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const inside = relative(DIST, path).split(sep).join('/');
      const written = inAscii(path, await readFile(path, 'utf8'));
      if (inside.startsWith('..')) return { contents: written, loader: 'js' };
      const text = written.replaceAll(/\bimport\((?=[^'"])/g, '__load(');
      const own = /\bimport\.meta\.(url|dirname)\b/.test(text)
        ? `const __url = new URL(${JSON.stringify(inside)}, __dist).href, __folder = __folderOf(__url);`
        : '';
      return { contents: own + text, loader: 'js', resolveDir: dirname(path) };
    });
  },
};

async function writeBundle() {
  const { warnings } = await build({
    entryPoints: [join(DIST, 'cli', 'perform.js')],
    outfile: FILE,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: EXTERNAL,
    keepNames: true,
    // Without comments; still with lines, which a stack trace names.
    minifyWhitespace: true,
    lineLimit: 120,
    // A script has no `import()`.
    supported: { 'dynamic-import': false },
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    define: { 'import.meta.url': '__url', 'import.meta.dirname': '__folder' },
    // The wrapper of a module, as Node's own.
    banner: {
      js: `(function (exports, require, module, __filename, __dirname) {
const __dist = require('node:url').pathToFileURL(require('node:path').join(__dirname, '..') + '/');
const __load = (name) => Promise.reject(new Error(\`the bundle of the service loads no \${name}\`));
const __folderOf = (url) => require('node:path').dirname(require('node:url').fileURLToPath(url));`,
    },
    footer: { js: '})' },
    plugins: [places],
    logLevel: 'error',
  });
  await stop();
  for (const { text, location } of warnings) console.error(`bundle: ${text} (${location?.file}:${location?.line})`);
}

/** A first start on an empty directory, whose process then writes what V8 has compiled. */
async function writeCache() {
  const folder = await mkdtemp(join(tmpdir(), 'aos-bundle-'));
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  try {
    await new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'bundle-cache.mjs')], {
        env: { ...Object.fromEntries(own), SVC_DATA_DIR: folder, SVC_PORT: '0', SVC_SETUP__BUILT_AGENTS: 'none' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      child.stdout.on('data', (chunk) => {
        said += chunk;
        if (said.includes('listening on')) child.kill('SIGTERM');
      });
      child.on('error', reject);
      child.on('close', (code) =>
        code === 0 ? resolve() : reject(new Error(`the first start ended with ${code}: ${said}`)),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (!(await fresh())) {
  await rm(dirname(FILE), { recursive: true, force: true });
  await writeBundle();
  await writeCache();
}
