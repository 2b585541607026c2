// Writes docs/plugin-api.md, the public surface of plugins, from the compiled declarations (after a build):
//   node scripts/plugin-api.mjs            writes the page
//   node scripts/plugin-api.mjs --print    prints it; `--dist <folder>` reads another build
// The surface is `kernel/contract` and every port that it names, directly or through another.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs', 'plugin-api.md');
const { values } = parseArgs({
  options: { print: { type: 'boolean' }, dist: { type: 'string', default: join(root, 'dist') } },
});

/** Declarations by path (`ports/store`), the contract first, then in the order in which they are named. */
async function surface() {
  const found = new Map();
  const waiting = ['kernel/contract'];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (found.has(path)) continue;
    const text = await readFile(join(values.dist, `${path}.d.ts`), 'utf8');
    found.set(path, text.replace(/^\/\/# sourceMappingURL=.*$/m, '').trim());
    for (const [, module] of text.matchAll(/ from '(\.{1,2}\/[^']+)\.js';/g))
      waiting.push(posix.join(posix.dirname(path), module));
  }
  return found;
}

async function report() {
  const sections = [...(await surface())].map(([path, text]) => `## ${path}\n\n\`\`\`ts\n${text}\n\`\`\`\n`);
  const text = [
    '# The plugin API\n',
    'Made by `node scripts/plugin-api.mjs` from the compiled declarations; do not edit. A test compares it with the code, so',
    'that no change of the public surface goes unseen. `PLUGIN_API` rises only with a breaking change.\n',
    'A plugin imports all of it from `aos/plugin`.\n',
    ...sections,
  ].join('\n');
  return format(text, {
    ...(await resolveConfig(page)),
    parser: 'markdown',
    filepath: join(dirname(page), 'plugin-api.md'),
  });
}

const text = await report();
if (values.print) process.stdout.write(text);
else await writeFile(page, text);
