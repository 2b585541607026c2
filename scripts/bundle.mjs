// Writes `dist/bundle/aos.js`: the command line with everything behind it, and its libraries, in one file; beside it a
// source map, and what V8 compiled during a first start (cli/program.ts). V8 keeps the text of a program for as long as
// it runs, so libraries that not every service needs are files of their own (LATER). Does nothing when nothing was
// compiled since.
//
// The bundle is made of what tsc wrote, so it has the same code, names of classes and metadata of decorators. Threads
// are files of their own, THREADS with all that they import; views, guides and assets stay as they are. `import.meta`
// of a module says where its own file lies.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild-wasm';

const DIST = join(import.meta.dirname, '..', 'dist');
const FILE = join(DIST, 'bundle', 'aos.js');

/** What a library asks for only where it is installed. Machine code is asked for by names that are made up then. */
const EXTERNAL = [
  'pino-pretty',
  '@mongodb-js/zstd',
  'aws4',
  'gcp-metadata',
  'kerberos',
  'mongodb-client-encryption',
  'snappy',
  'socks',
];

/** File beside the bundle → what is in it: loaded when it is first asked for, and imported by no other way. */
const LATER = {
  mcp: join(DIST, 'plugins', 'mcp', 'library.js'),
  mongodb: 'mongodb',
  nodemailer: 'nodemailer',
  qrcode: 'qrcode',
};

/**
 * What a plugin from outside may import of us → its file. Beside the bundle, each has a door: a module that hands out
 * what the bundle has of that file (kernel/loading/one-contract.ts).
 */
const DOORS = await (async () => {
  const files = await readdir(join(DIST, 'lib'), { recursive: true });
  const lib = files.filter((file) => file.endsWith('.js')).map((file) => `aos/lib/${file.slice(0, -3)}`);
  const names = ['aos/plugin', 'aos/domain', ...lib.map((name) => name.split(sep).join('/')).toSorted()];
  return names.map((name) => [name, fileURLToPath(import.meta.resolve(name))]);
})();
const BUNDLED = join('kernel', 'loading', 'bundled.js');
const belowDist = (file) => relative(DIST, file).split(sep).join('/');

/** Threads that most services start, each with all that it imports (lib/process/thread-module.ts). */
const THREADS = ['adapters/sqlite/writer', 'adapters/sqlite/reader', 'adapters/node/hasher-worker'];

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

/**
 * libsql has a package for each C library, and asks twice which one this is: a library of its own, which takes it from
 * a report on the whole process (8 ms in each thread), and then another, which looks into a file and is believed.
 */
const asksOnce = (path, text) => {
  if (!path.endsWith(join('@neon-rs', 'load', 'dist', 'index.js'))) return text;
  const changed = text.replace('return isGlibc()', 'return false');
  if (changed === text) throw new Error('libsql asks for its C library in another way');
  return changed;
};

/** Names of classes as they were written. */
const classes = new Set();
const CLASS = /\bclass ([\w$]+)|\b([\w$]+) ?= ?(?=class\b)/g;
const HEAD = /(?:\bclass\s+([\w$]+)|\b([\w$]+)=class\b(?:\s+(?!extends\b)([\w$]+))?)(?:\s+extends\s[^{}]*)?\{/g;

/** A decorated class, as tsc writes it, has one name for two variables; without the inner one it has the outer's. */
const noted = (written) => {
  const text = written.replaceAll(/\blet (\w+) = class \1\b/g, 'let $1 = class');
  for (const [, declared, assigned] of text.matchAll(CLASS)) classes.add(declared ?? assigned);
  return text;
};

/**
 * Of two modules that use one name esbuild gives the second another, `Parser2`. A class shows its name, in a log too,
 * so it gets it back. For functions nobody asks: esbuild's `keepNames` names each anew whenever it is made, also within
 * requests (a tenth of a Sentry envelope's time).
 */
const withNames = (bundle) =>
  bundle.replaceAll(HEAD, (head, declared, assigned, inner) => {
    const shown = declared ?? inner ?? assigned;
    const bare = shown.replace(/^_/, '');
    const written = [shown, bare, bare.slice(0, -1), bare.slice(0, -2)].find((name) => classes.has(name));
    return written !== undefined && written !== shown ? `${head}static{__named(this,"${written}")}` : head;
  });

/** Each of our modules knows its own place; one says what stands behind the doors. */
const places = {
  name: 'places',
  setup(bundle) {
    // The queue of jobs imports it as a module, its reader of cron expressions as CommonJS: two copies, of which our
    // own settings reach one.
    bundle.onResolve({ filter: /^luxon$/ }, () => ({ path: createRequire(import.meta.url).resolve('luxon') }));
    bundle.onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const inside = belowDist(path);
      if (path === join(DIST, BUNDLED)) return { contents: behindDoors(), loader: 'js', resolveDir: DIST };
      const written = asksOnce(path, inAscii(path, await readFile(path, 'utf8')));
      if (inside.startsWith('..')) return { contents: noted(written), loader: 'js' };
      const text = noted(written).replaceAll(/\bimport\((?=[^'"])/g, '__load(');
      const own = /\bimport\.meta\.(url|dirname)\b/.test(text)
        ? `const __url = new URL(${JSON.stringify(inside)}, __dist).href, __folder = __folderOf(__url);`
        : '';
      return { contents: own + text, loader: 'js', resolveDir: dirname(path) };
    });
  },
};

const behindDoors = () => {
  const modules = DOORS.map(
    ([, file]) => `  ${JSON.stringify(belowDist(file))}: () => require(${JSON.stringify(file)})`,
  );
  return `export const bundled = {\n${modules.join(',\n')}\n};\n`;
};

async function writeDoors() {
  for (const [name, file] of DOORS) {
    const door = join(dirname(FILE), `${name}.mjs`);
    const names = Object.keys(await import(pathToFileURL(file).href));
    await mkdir(dirname(door), { recursive: true });
    const from = relative(dirname(door), file).split(sep).join('/');
    await writeFile(
      door,
      `import { createRequire } from 'node:module';
export const { ${names.join(', ')} } = createRequire(import.meta.url)('${from}');
`,
    );
  }
}

/**
 * The library of MCP has a validator of JSON Schema for what it would ask a person through an agent, which this service
 * does not do. Of the two that come with it the one for browsers is 40 KB and not 300, of which it compiles most.
 */
const VALIDATOR = '@modelcontextprotocol/server/_shims';
const smallValidator = {
  name: 'small validator',
  setup(bundle) {
    const library = dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/server')));
    bundle.onResolve({ filter: new RegExp(`^${VALIDATOR}$`) }, () => ({ path: join(library, 'shimsBrowser.mjs') }));
  },
};

/** What is in a file of its own is asked for by that file's name. */
const later = {
  name: 'later',
  setup(bundle) {
    bundle.onResolve({ filter: /^[^.]|\/library\.js$/ }, ({ path, resolveDir, kind }) => {
      const asked = path.startsWith('.') ? join(resolveDir, path) : path;
      const [name] = Object.entries(LATER).find(([, inside]) => inside === asked) ?? [];
      return name === undefined || kind === 'entry-point' ? null : { path: `./${name}.cjs`, external: true };
    });
  },
};

/**
 * A module of CommonJS as imports see it: esbuild copies its names, a getter each, for every file that imports it
 * (8,000 functions of two hundred files). One copy is enough.
 */
const COPIED = `const __copies = [new WeakMap(), new WeakMap()];
const __toESM = (module, asNode = 0) => {
  let copy = __copies[asNode].get(module);
  if (copy === undefined) __copies[asNode].set(module, (copy = __copied(module, asNode)));
  return copy;
};`;
const copiedOnce = (bundle) => {
  const own = bundle.replace(/\b__toESM\s*=\s*(?=\(\s*mod\s*,)/, '__copied=');
  if (own === bundle) throw new Error('esbuild imports modules of CommonJS in another way');
  return own;
};

const NAMED = `const __named = (made, value) => Object.defineProperty(made, 'name', { value, configurable: true });`;

async function writeFiles(options, changed = (text) => text) {
  const { outputFiles, warnings } = await build({
    outdir: dirname(FILE),
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: EXTERNAL,
    // Without comments; still with lines, which a stack trace names.
    minifyWhitespace: true,
    lineLimit: 120,
    // A script has no `import()`.
    supported: { 'dynamic-import': false },
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    define: { 'import.meta.url': '__url', 'import.meta.dirname': '__folder' },
    logLevel: 'error',
    ...options,
  });
  for (const { path, text } of outputFiles)
    await writeFile(path, path.endsWith('.map') ? text : changed(withNames(text)));
  for (const { text, location } of warnings) console.error(`bundle: ${text} (${location?.file}:${location?.line})`);
}

/** What `places` writes asks for these. */
const PLACES = `const __dist = require('node:url').pathToFileURL(require('node:path').join(__dirname, '..') + '/');
const __folderOf = (url) => require('node:path').dirname(require('node:url').fileURLToPath(url));
${NAMED}`;

async function writeBundle() {
  await mkdir(dirname(FILE), { recursive: true });
  await writeFiles(
    {
      entryPoints: { aos: join(DIST, 'cli', 'perform.js') },
      // The wrapper of a module, as Node's own, with what loads plugins from outside.
      banner: {
        js: `(function (exports, require, module, __filename, __dirname, __load) {
${PLACES}
${COPIED}`,
      },
      footer: { js: '})' },
      plugins: [later, places],
    },
    copiedOnce,
  );
  await writeFiles({
    entryPoints: LATER,
    outExtension: { '.js': '.cjs' },
    banner: { js: NAMED },
    plugins: [smallValidator, places],
  });
  await writeFiles({
    entryPoints: Object.fromEntries(THREADS.map((name) => [name.replaceAll('/', '.'), join(DIST, `${name}.js`)])),
    // Only imported accounts have hashes that need it.
    external: [...EXTERNAL, 'hash-wasm'],
    outExtension: { '.js': '.cjs' },
    // A thread that writes loads functions of plugins.
    banner: { js: `${PLACES}\nconst __load = (name) => import(name);` },
    plugins: [places],
  });
  await stop();
  await writeDoors();
}

/** A first start on an empty directory, whose process then writes what V8 has compiled. */
async function writeCache() {
  const folder = await mkdtemp(join(tmpdir(), 'aos-bundle-'));
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  try {
    await new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'bundle-cache.mjs')], {
        env: {
          ...Object.fromEntries(own),
          NODE_OPTIONS: '',
          SVC_DATA_DIR: folder,
          SVC_PORT: '0',
          SVC_SETUP__BUILT_AGENTS: 'none',
        },
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
