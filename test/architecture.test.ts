/**
 * Who may import whom (docs/architecture.md), checked over every source file; and proof that the
 * judge can see.
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { factsOf } from './architecture/imports.js';
import { ruleRows } from './architecture/rules.js';
import { judge, projectRoot, sources, type Judgement } from './architecture/tree.js';

const ROOT = projectRoot();
/** In one folder. */
const MOST_FILES = 25;
const PLANTED = join(ROOT, 'test', 'fixtures', 'violations');

describe('architecture', function () {
  let whole: Judgement;
  let planted: Judgement;
  before(async () => {
    whole = await judge(ROOT);
    planted = await judge(PLANTED);
  });

  it('finds no forbidden import', () => {
    expect(whole.violations.join('\n')).to.equal('');
  });

  it('checked files of every layer', async () => {
    for (const [layer, count] of whole.seen) expect(count, layer).to.be.greaterThan(0);
    expect(await sources(ROOT)).to.include('kernel/kernel.ts');
  });

  it('reports every planted violation, with both names', async () => {
    const expected = (await readFile(join(PLANTED, 'expected.txt'), 'utf8')).trim().split('\n');
    expect(planted.violations).to.have.members(expected);
    expect(planted.seen.get('plugins')).to.be.greaterThan(5);
  });

  it('reports nothing for the planted plugin that follows the rules', () => {
    expect(planted.violations.filter((line) => line.startsWith('plugins/good/'))).to.deep.equal([]);
  });

  it('is what docs/architecture.md shows', async () => {
    const page = await readFile(join(ROOT, 'docs', 'architecture.md'), 'utf8');
    const table = /## Who may import whom\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
    const shown = table.split('\n').filter((line) => line.startsWith('| `'));
    expect(shown.map((line) => line.replaceAll(/ +/g, ' '))).to.deep.equal(ruleRows());
  });

  it('keeps folders small', async () => {
    const files = (await sources(ROOT)).filter((file) => !file.startsWith('test/'));
    const sizes = new Map<string, number>();
    for (const file of files) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
    expect([...sizes].filter(([, n]) => n > MOST_FILES)).to.deep.equal([]);
  });

  const forms: [string, string][] = [
    ['static', "import { MongoClient } from 'mongodb';"],
    ['for its effects', "import 'mongodb';"],
    ['default', "import mongo from 'mongodb';"],
    ['namespace', "import * as mongo from 'mongodb';"],
    ['type-only', "import type { MongoClient } from 'mongodb';"],
    ['type-only by name', "import { type MongoClient } from 'mongodb';"],
    ['re-exported', "export { MongoClient } from 'mongodb';"],
    ['re-exported whole', "export * from 'mongodb';"],
    ['re-exported types', "export type * from 'mongodb';"],
    ['re-exported as a namespace', "export * as mongo from 'mongodb';"],
    ['dynamic', "const mongo = await import('mongodb');"],
    ['dynamic in a template', 'const mongo = await import(`mongodb`);'],
    ['required', "const mongo = require('mongodb');"],
    ['import = require', "import mongo = require('mongodb');"],
    ['a type', "let client: import('mongodb').MongoClient;"],
    ['typeof', "let module: typeof import('mongodb');"],
    ['built in', "const mongo = process.getBuiltinModule('mongodb');"],
    ['below a decorator', "@injectable() class A { constructor(@inject('x') private x: import('mongodb').Db) {} }"],
  ];
  for (const [form, source] of forms) {
    it(`sees an import: ${form}`, () => {
      expect(factsOf(source, 'a.ts').imports.map(({ module }) => module)).to.deep.equal(['mongodb']);
    });
  }

  it('is not fooled by text and comments, and sees computed imports and globals', () => {
    const { imports, globals } = factsOf(
      "// import 'mongodb'\nconst text = \"import 'mongodb'\";\nawait import(name);\nconsole.log(process.env['X'], process.env.Y, process?.env);",
      'a.ts',
    );
    expect(imports.map(({ module }) => module)).to.deep.equal(['<computed>']);
    expect(globals).to.deep.equal(['console', 'process.env', 'process.env', 'process.env']);
  });
});
