// Copies what tsc leaves behind (views, styles, JSON) beside the compiled code, so that `dist/` runs alone, and makes
// the style sheets. No page may ask another host, so the kit is served from here. Text files in the asset folders get a
// `.br` and a `.gz` beside them: compressed once, here, and not at every request.
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { kitStyles, ownStyles } from './styles.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
/** Sources of the one `aos.css`. */
const styles = join(root, 'web', 'styles');
const folders = ['plugins', 'web', 'config', 'cli', 'clients', 'adapters', 'testing', 'test'];
const compiled = /\.(ts|md)$/;
const text = /\.(css|js|svg)$/;
/** Less than a packet is not worth a second file. */
const WORTH_COMPRESSING = 1024;

async function copy(folder) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const from = join(folder, entry.name);
    if (from === styles) continue;
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

for (const folder of folders) await copy(join(root, folder));
const assets = join(dist, 'web', 'assets');
await writeFile(join(assets, 'aos.css'), await ownStyles(styles));
await writeFile(join(assets, 'kit.css'), await kitStyles(dist));
await compress(assets);
for (const plugin of await readdir(join(dist, 'plugins'))) await compress(join(dist, 'plugins', plugin, 'assets'));
