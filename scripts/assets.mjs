// Copies what tsc omits (views, styles, JSON) to `dist/`, and bundles and minifies the style sheets
// and page scripts, because a first visit pays for each file and byte. Pages must not load from
// other hosts, so the CSS kit is served from here. Text assets get `.br` and `.gz` files,
// compressed once at build time.
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { build, stop, transform } from 'esbuild-wasm';
import { buildFonts } from './fonts.mjs';
import { buildIconSprite } from './icons.mjs';
import { buildKitStyles, buildOwnStyles } from './styles.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
/** Sources of `aos.css`. */
const styles = join(root, 'web', 'styles');
const folders = ['plugins', 'web', 'config', 'clients', 'adapters', 'test'];
const compiled = /\.(ts|md)$/;
const text = /\.(css|js|svg)$/;
/** Scripts of every page, and of pages with a session, bundled in this order. */
const BUNDLES = {
  'app.js': ['app.js', 'toasts.js'],
  'page.js': ['keys.js', 'dialogs.js', 'lists.js', 'live.js', 'charts.js', 'follow.js', 'search.js'],
};
/** Scripts that import a package. */
const BUNDLED_SCRIPTS = ['passkeys.js'];
const WORTH_COMPRESSING = 1024;

/** Sources of new plugins, which `aos plugin new` reads where they are. */
const templates = join(root, 'adapters', 'cli', 'templates');

async function copy(folder) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const from = join(folder, entry.name);
    if (from === styles || from === templates) continue;
    if (entry.isDirectory()) await copy(from);
    else if (!compiled.test(entry.name)) {
      const to = join(dist, relative(root, from));
      await mkdir(dirname(to), { recursive: true });
      await cp(from, to);
    }
  }
}

async function compress(folder) {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  for (const path of names.map((name) => join(folder, name))) {
    if (!text.test(path) || (await stat(path)).size < WORTH_COMPRESSING) continue;
    const bytes = await readFile(path);
    await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes));
    await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
  }
}

async function joinScripts(folder, bundle, names) {
  const sources = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  await Promise.all(names.map((name) => rm(join(folder, name))));
  await writeFile(join(folder, bundle), sources.join('\n'));
}

async function bundleScripts(folder) {
  for (const name of BUNDLED_SCRIPTS) {
    const entryPoints = [join(root, 'web', 'assets', name)];
    const { outputFiles } = await build({ entryPoints, bundle: true, format: 'iife', target: 'esnext', write: false });
    await writeFile(join(folder, name), outputFiles[0].contents);
  }
}

async function minify(folder) {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  await Promise.all(
    names
      .filter((name) => /\.(css|js)$/.test(name) && name !== 'kit.css')
      .map(async (name) => {
        const loader = name.endsWith('.css') ? 'css' : 'js';
        const whole = await readFile(join(folder, name), 'utf8');
        const { code } = await transform(whole, { loader, minify: true, target: 'esnext', legalComments: 'none' });
        await writeFile(join(folder, name), code);
      }),
  );
}

for (const folder of folders) await copy(join(root, folder));
// Units and crontabs of existing installations start this address.
await mkdir(join(dist, 'cli'), { recursive: true });
await writeFile(join(dist, 'cli', 'main.js'), "#!/usr/bin/env node\nawait import('../main.js');\n");
const assets = join(dist, 'web', 'assets');
await writeFile(join(assets, 'icons.svg'), await buildIconSprite(join(root, 'web')));
const fonts = await buildFonts(assets);
await writeFile(join(assets, 'aos.css'), `${fonts}\n${await buildOwnStyles(styles)}`);
await writeFile(join(assets, 'kit.css'), await buildKitStyles(dist));
for (const [bundle, names] of Object.entries(BUNDLES)) await joinScripts(assets, bundle, names);
await bundleScripts(assets);
const places = [
  assets,
  ...(await readdir(join(dist, 'plugins'))).map((plugin) => join(dist, 'plugins', plugin, 'assets')),
];
await Promise.all(places.map(minify));
await stop();
for (const place of places) await compress(place);
