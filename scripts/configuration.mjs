// Writes config/default.json and docs/configuration.md from the compiled schemas; run `npm run
// build` first. With `--check` it writes nothing and exits with 1 when one is outdated.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = process.env.AOS_DIST ?? join(root, 'dist');
const { listConfigSections, renderDefaults, renderDocs } = await import(`${dist}/config/docs.js`);
const { BUILTIN } = await import(`${dist}/config/compose/compose.js`);

const sections = listConfigSections(BUILTIN);
const files = {
  'config/default.json': renderDefaults(sections),
  'docs/configuration.md': renderDocs(sections),
};
for (const [name, text] of Object.entries(files)) {
  const path = join(root, name);
  if (process.argv.includes('--check')) {
    if ((await readFile(path, 'utf8')) !== text) {
      console.error(`${name} is behind its schema: run node scripts/configuration.mjs`);
      process.exitCode = 1;
    }
  } else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    console.log(name);
  }
}
