// Copies what tsc leaves behind (views, styles, JSON) beside the compiled code, so that `dist/` runs alone.
import { cp, mkdir, readdir } from 'node:fs/promises';
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

for (const folder of folders) await copy(join(root, folder));
