// Copies what tsc leaves behind (views, styles, JSON) beside the compiled code, so that `dist/` runs alone, and the CSS
// kit from its package: served from here, because no page may ask another host.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folders = ['plugins', 'web', 'config', 'cli', 'clients', 'adapters', 'test'];
const compiled = /\.(ts|md)$/;

async function copy(folder) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const from = join(folder, entry.name);
    if (entry.isDirectory()) await copy(from);
    else if (!compiled.test(entry.name)) {
      const to = join(root, 'dist', relative(root, from));
      await mkdir(dirname(to), { recursive: true });
      await cp(from, to);
    }
  }
}

/** The kit's style sheet, without the pointer to a source map that is not shipped. */
async function vendor() {
  const kit = createRequire(import.meta.url).resolve('@tabler/core/dist/css/tabler.min.css');
  const folder = join(root, 'dist', 'web', 'assets', 'vendor');
  await mkdir(folder, { recursive: true });
  const css = await readFile(kit, 'utf8');
  await writeFile(join(folder, 'tabler.min.css'), css.replace(/\/\*# sourceMappingURL=.*?\*\//, ''));
}

for (const folder of folders) await copy(join(root, folder));
await vendor();
