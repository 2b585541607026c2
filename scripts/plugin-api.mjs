// Writes the public API of plugins and of the client SDK from the compiled declarations (after a
// build). A page contains its entry and the declarations of other modules that the entry refers to,
// unless the other page has them.
//
// node scripts/plugin-api.mjs (writes docs/plugin-api.md and the other pages of PAGES)
//
// node scripts/plugin-api.mjs --print <page> (prints one page; `--dist <folder>` reads another
// build)
import { parse } from '@babel/parser';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: { print: { type: 'string' }, dist: { type: 'string', default: join(root, 'dist') } },
});

/** Modules whose declarations the SDK's users never need. */
const SDK_INTERNAL =
  /^(clients\/sdk\/(context|cache|host|store|transport|node\/(host|files|http))|formats\/(signature|canonical-json))$/;

const DECLARED_PORTS = /^ports\/(reach|release-store|installers|manual|signer|source-maps\/reader|store\/backups)$/;

const PAGES = {
  'plugin-api': {
    entry: 'kernel/contract/index',
    has: (path) => !DECLARED_PORTS.test(path),
    head: [
      '# The plugin API\n',
      'Made by `node scripts/plugin-api.mjs` from the compiled declarations; do not edit. A test compares it with the code, so',
      'that no change of the public surface goes unseen. `PLUGIN_API` rises only with a breaking change.\n',
      'A plugin imports all of it from `aos/plugin`. The types of ports that a manifest declares are described in the source, in',
      '`ports/`.\n',
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
    entry: 'test/kit/index',
    has: (path) => /^test\/kit\/(?!contracts|parts|output)/.test(path),
    head: [
      '# Testing a plugin\n',
      'Made by `node scripts/plugin-api.mjs` from the compiled declarations; do not edit. A test compares it with the code.\n',
      'Tests of a plugin import all of it from `aos/testing`, in any test runner. [Writing a plugin](plugin-example.md#the-tests) shows them',
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

function parseModule(path) {
  const text = readFileSync(join(values.dist, `${path}.d.ts`), 'utf8');
  const { program } = parse(text, { sourceType: 'module', plugins: [['typescript', { dts: true }]] });
  const module = { text, declared: new Map(), elsewhere: new Map(), exported: new Set(), stars: [] };
  for (const node of program.body) {
    const from = node.source?.value;
    const target = from?.startsWith('.') ? posix.join(posix.dirname(path), from).replace(/\.js$/, '') : null;
    if (node.type === 'ExportAllDeclaration' && target !== null) module.stars.push(target);
    for (const { local, imported, exported } of node.specifiers ?? []) {
      const name = (exported ?? local).name;
      if (target !== null) module.elsewhere.set(name, [target, (imported ?? local).name]);
      if (exported !== undefined) module.exported.add(name);
    }
    const declaration = node.declaration ?? node;
    const comment = node.leadingComments?.at(-1);
    const statement = { node: declaration, text: text.slice(comment?.start ?? node.start, node.end) };
    for (const { id } of declaration.declarations ?? [declaration]) {
      if (id === undefined) continue;
      // Overloads share one name.
      module.declared.set(id.name, [...(module.declared.get(id.name) ?? []), statement]);
      if (node.declaration) module.exported.add(id.name);
    }
  }
  return module;
}

/** Calls `visit` with every identifier in a node. */
function visitIdentifiers(node, visit) {
  if (node?.type === 'Identifier') visit(node.name);
  for (const [member, value] of Object.entries(node ?? {})) {
    if (member.endsWith('Comments') || member === 'loc' || typeof value !== 'object') continue;
    for (const child of Array.isArray(value) ? value : [value]) visitIdentifiers(child, visit);
  }
}

/**
 * Returns texts by module path (`ports/store/index`): entries completely, other modules as far as
 * they are reachable.
 */
function listSurface({ entry, others = [], has }) {
  const modules = new Map();
  const reached = new Map();
  const seen = new Set();
  const read = (path) => {
    if (!modules.has(path)) modules.set(path, parseModule(path));
    return modules.get(path);
  };
  const exportsOf = (path) => [...read(path).exported, ...read(path).stars.filter(has).flatMap(exportsOf)];
  const visit = (path, name) => {
    if (!has(path)) return;
    const { declared, elsewhere, stars } = read(path);
    for (const { node, text } of declared.get(name) ?? []) {
      const texts = reached.get(path) ?? reached.set(path, new Set()).get(path);
      if (seen.has(node)) continue;
      seen.add(node);
      texts.add(text.replaceAll(/^\s*#private;\n/gm, ''));
      visitIdentifiers(node, (one) => {
        if (declared.has(one) || elsewhere.has(one)) visit(path, one);
      });
    }
    if (declared.has(name)) return;
    if (elsewhere.has(name)) visit(...elsewhere.get(name));
    else for (const star of stars) visit(star, name);
  };
  for (const path of [entry, ...others]) {
    reached.set(
      path,
      new Set([
        read(path)
          .text.replace(/^\/\/# sourceMappingURL=.*$/m, '')
          .trim(),
      ]),
    );
    for (const name of exportsOf(path)) visit(path, name);
  }
  return [...reached].map(([path, texts]) => [path, [...texts].join('\n')]);
}

async function report(name) {
  const file = join(root, 'docs', `${name}.md`);
  const page = PAGES[name];
  const sections = listSurface(page).map(([path, text]) => `## ${path}\n\n\`\`\`ts\n${text}\n\`\`\`\n`);
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
