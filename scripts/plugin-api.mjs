// Writes the public surface of plugins and of the client SDK from the compiled declarations (after a build):
//   node scripts/plugin-api.mjs                  writes docs/plugin-api.md and the other pages of PAGES
//   node scripts/plugin-api.mjs --print <page>   prints one of them; `--dist <folder>` reads another build
// A page holds its entry and every module that this one names, directly or through another, unless the other page has
// it.
import { readFile, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: { print: { type: 'string' }, dist: { type: 'string', default: join(root, 'dist') } },
});

/** Modules whose declarations name what the SDK's users never see. */
const SDK_INTERNAL =
  /^(clients\/sdk\/(context|cache|host|store|transport|node\/(host|files|http))|formats\/(signature|canonical-json))$/;

const PAGES = {
  'plugin-api': {
    entry: 'kernel/contract',
    has: () => true,
    head: [
      '# The plugin API\n',
      'Made by `node scripts/plugin-api.mjs` from the compiled declarations; do not edit. A test compares it with the code, so',
      'that no change of the public surface goes unseen. `PLUGIN_API` rises only with a breaking change.\n',
      'A plugin imports all of it from `aos/plugin`.\n',
    ],
  },
  'plugin-domain': {
    entry: 'ports/domain/index',
    has: (path) => path.startsWith('ports/domain/'),
    head: [
      '# What plugins offer each other\n',
      'Made by `node scripts/plugin-api.mjs` from the compiled declarations; do not edit. A test compares it with the code.\n',
      'A plugin imports all of it from `aos/domain`: tokens for `needs` and `uses`, extension points for `extends`, events for',
      '`listen`, and the types of what each of them stands for. Other types are those of [the plugin API](plugin-api.md).\n',
    ],
  },
  'plugin-testing': {
    entry: 'testing/index',
    has: (path) => /^testing\/(?!contracts|parts|output)/.test(path),
    head: [
      '# Testing a plugin\n',
      'Made by `node scripts/plugin-api.mjs` from the compiled declarations; do not edit. A test compares it with the code.\n',
      'Tests of a plugin import all of it from `aos/testing`, in any test runner. [Writing a plugin](plugins.md#the-tests) shows them',
      'at work. Other types are those of [the plugin API](plugin-api.md).\n',
    ],
  },
  'sdk-api': {
    entry: 'clients/sdk/index',
    others: ['clients/sdk/browser/index'],
    has: (path) => !SDK_INTERNAL.test(path),
    head: [
      '# The API of the client SDK\n',
      'Made by `node scripts/plugin-api.mjs` from the compiled declarations; do not edit. A test compares it with the code, so',
      'that no change of the public surface goes unseen. Exported is what `clients/sdk/index` names (`@aos/sdk`), and for pages what',
      '`clients/sdk/browser/index` does (`@aos/sdk/browser`).\n',
    ],
  },
};

/** Declarations by path (`ports/store`), the entry first, then in the order in which they are named. */
async function surface({ entry, others = [], has }) {
  const found = new Map();
  const waiting = [entry, ...others];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (found.has(path) || !has(path)) continue;
    const text = await readFile(join(values.dist, `${path}.d.ts`), 'utf8');
    found.set(path, text.replace(/^\/\/# sourceMappingURL=.*$/m, '').trim());
    for (const [, module] of text.matchAll(/ from '(\.{1,2}\/[^']+)\.js';/g))
      waiting.push(posix.join(posix.dirname(path), module));
  }
  return found;
}

async function report(name) {
  const file = join(root, 'docs', `${name}.md`);
  const page = PAGES[name];
  const sections = [...(await surface(page))].map(([path, text]) => `## ${path}\n\n\`\`\`ts\n${text}\n\`\`\`\n`);
  const text = [...page.head, ...sections].join('\n');
  return { file, text: await format(text, { ...(await resolveConfig(file)), parser: 'markdown', filepath: file }) };
}

if (values.print !== undefined) process.stdout.write((await report(values.print)).text);
else {
  for (const name of Object.keys(PAGES)) {
    const { file, text } = await report(name);
    await writeFile(file, text);
  }
}
