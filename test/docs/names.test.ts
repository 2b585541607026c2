/**
 * Routes, commands, settings, error codes, npm scripts and files that the documents mention exist.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readBuiltCommands } from '../../adapters/cli/table.js';
import { findPackageRoot } from '../../config/load.js';
import { TestService } from '../support/service.js';

const ROOT = findPackageRoot();
/** Generated from the sources, with names of examples in them. */
const GENERATED = new Set(['plugin-api.md', 'plugin-domain.md', 'plugin-testing.md', 'sdk-api.md']);
/** The plugin that docs/plugin-example.md writes, and the forms of its paths. */
const EXAMPLES = /^\/api\/(oncall\b|<id>)|…/;
/** Folders of the sources, as documents name them. */
const SOURCES = 'adapters|cli|clients|config/compose|deploy|kernel|lib|plugins|ports|scripts|test|web';

interface Page {
  name: string;
  text: string;
}

async function readPages(): Promise<Page[]> {
  const list = async (folder: string): Promise<string[]> =>
    (await readdir(join(ROOT, folder)))
      .filter((name) => name.endsWith('.md') && !GENERATED.has(name))
      .map((name) => `${folder}/${name}`);
  const names = ['README.md', 'CONTRIBUTING.md', 'deploy/README.md', ...(await list('docs'))].concat(
    await list('docs/decisions'),
  );
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(ROOT, name), 'utf8') })));
}

/**
 * What `pattern` finds in the pages and `exists` does not accept; at least `least` names are
 * checked.
 */
function listMissing(
  pages: readonly Page[],
  pattern: RegExp,
  least: number,
  exists: (name: string) => boolean,
): string {
  const mentioned = pages.flatMap(({ name: page, text }) =>
    [...text.matchAll(pattern)].map(([, name = '']) => ({ page, name })),
  );
  expect(mentioned.length).to.be.at.least(least);
  return mentioned.flatMap(({ page, name }) => (exists(name) ? [] : [`${page}: ${name}`])).join('\n');
}

describe('names in the docs', () => {
  let pages: readonly Page[];
  let described: { paths: Record<string, unknown>; 'x-error-codes': Record<string, unknown> };

  before(async () => {
    pages = await readPages();
    const service = await TestService.createInProcess();
    described = (await (await fetch(`${service.url}/api/openapi.json`)).json()) as typeof described;
    await service.dispose();
  });

  it('use a single variable for the address and a single variable for the token', async () => {
    const examples = await readdir(join(ROOT, 'docs', 'examples'));
    const texts = await Promise.all(
      examples.map(async (name) => ({ name, text: await readFile(join(ROOT, 'docs', 'examples', name), 'utf8') })),
    );
    const others = /\b((?:AOS|WD|WATCHDOG|SERVICE)_(?:URL|TOKEN|SERVER))\b|\$(?:\{|env:)?((?:URL|TOKEN))\b/g;
    const found = [...pages, ...texts].flatMap(({ name, text }) =>
      [...text.matchAll(others)].map(([variable]) => `${name}: ${variable}`),
    );
    expect(found.join('\n')).to.equal('');
  });

  it('include only routes of the OpenAPI document', () => {
    const shapes = Object.keys(described.paths).map(
      (path) => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}(/|$)`),
    );
    const isRoute = (path: string): boolean => {
      const filled = path.replace(/[./]+$/, '').replaceAll(/[<{][^>}]*[>}]/g, 'x');
      return (
        EXAMPLES.test(path) ||
        filled === '/api/openapi.json' ||
        shapes.some((shape) => shape.test(filled)) ||
        Object.keys(described.paths).some((known) => known.startsWith(`${filled}/`))
      );
    };
    expect(listMissing(pages, /(?<![\w.-])(\/(?:api\/[\w/{}:.…<>-]+|openapi\.json))/g, 60, isRoute)).to.equal('');
  });

  it('include only commands of the program', async () => {
    const commands = (await readBuiltCommands()).map(({ name }) => name);
    const groups = new Set(commands.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? ''));
    const single = new Set(commands.filter((name) => !name.includes(' ')).concat('help', 'oncall'));
    const isCommand = (name: string): boolean => {
      const [first = ''] = name.split(' ');
      return commands.includes(name) || single.has(first) || (groups.has(first) && name === first);
    };
    expect(listMissing(pages, /(?:`|^|\$ )aos ([a-z][a-z-]*(?: [a-z-]+)?)/gm, 60, isCommand)).to.equal('');
  });

  it('include only settings and variables that a program reads', async () => {
    const configuration = await readFile(join(ROOT, 'docs', 'configuration.md'), 'utf8');
    const settings = new Set(configuration.match(/SVC_[A-Z0-9_]+/g));
    const elsewhere =
      /^SVC_(URL|TOKEN|TOKEN_FILE|PASSWORD|PASSWORD_FILE|CA_FILE|MACHINE_ID|PRODUCT_KEY|PRODUCT_KEY_FILE|SET_\w*|TEST_\w+|ONCALL__TOKEN)$/;
    const isSetting = (name: string): boolean =>
      settings.has(name) || settings.has(name.replace(/_FILE$/, '')) || elsewhere.test(name);
    expect(listMissing(pages, /\b(SVC_[A-Z0-9_]+)/g, 150, isSetting)).to.equal('');
  });

  it('include only declared error codes after a status', () => {
    const codes = new Set(Object.keys(described['x-error-codes']));
    expect(listMissing(pages, /\b(?:4\d\d|503) `([a-z]+(?:_[a-z]+)+)`/g, 20, (code) => codes.has(code))).to.equal('');
  });

  it('include only npm scripts of package.json', async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(listMissing(pages, /npm run ([\w:-]+)/g, 10, (name) => Object.hasOwn(scripts, name))).to.equal('');
  });

  it('include only existing source files and folders', () => {
    const path = new RegExp(String.raw`\`((?:${SOURCES})/[\w./-]*[\w/])\``, 'g');
    const isFile = (name: string): boolean =>
      ['', ...(name.endsWith('.test.ts') ? ['test', 'test/e2e'] : [])].some((folder) =>
        existsSync(join(ROOT, folder, name)),
      );
    expect(listMissing(pages, path, 150, isFile)).to.equal('');
  });

  it('include only identifiers that occur in the sources', async () => {
    const files = (await readdir(ROOT, { recursive: true })).filter(
      (name) => /\.(ts|mjs|js)$/.test(name) && !/^(node_modules|dist|build|data|docs|\.git)\//.test(name),
    );
    const texts = await Promise.all(files.map((name) => readFile(join(ROOT, name), 'utf8')));
    const words = new Set(texts.flatMap((text) => text.match(/[A-Za-z_$][\w$]*/g) ?? []));
    const internal = pages.filter(({ name }) => /^docs\/(architecture|consistency)\.md$|^docs\/decisions\//.test(name));
    const identifier = /`([A-Za-z]\w*[a-z][A-Z]\w*(?:\.\w+)?|[A-Z]\w+\.[a-z]\w+)(?:\([^`]*\))?`/g;
    expect(listMissing(internal, identifier, 20, (name) => name.split('.').every((part) => words.has(part)))).to.equal(
      '',
    );
  });

  it('include only existing files in the walkthrough of an error report', () => {
    const page = pages.find(({ name }) => name === 'docs/architecture.md');
    const walk = /\n### An error report in `plugins\/bugs`\n([\s\S]*?)\n## /.exec(page?.text ?? '')?.[1] ?? '';
    const isFile = (name: string): boolean =>
      ['plugins/bugs', 'plugins/bugs/intake', ''].some((folder) => existsSync(join(ROOT, folder, name)));
    expect(listMissing([{ name: 'docs/architecture.md', text: walk }], /`([\w/-]+(?:\.ts|\/))`/g, 15, isFile)).to.equal(
      '',
    );
  });
});
