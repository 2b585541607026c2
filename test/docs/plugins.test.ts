/**
 * The guide of plugins prints the example as it is; the packed service compiles and runs it
 * (test/e2e/outside/packed.test.ts).
 */
import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { projectRoot } from '../architecture/tree.js';

const ROOT = projectRoot();
const EXAMPLE = join(ROOT, 'examples', 'on-call');
/** About the folder, and not of the plugin. */
const NOT_SHOWN = new Set(['README.md', '.gitignore']);

describe('docs/plugin-example.md', () => {
  let guide: string;
  before(async () => {
    guide = await readFile(join(ROOT, 'docs', 'plugin-example.md'), 'utf8');
  });

  it('prints every file of the example unchanged (else: node scripts/plugin-guide.mjs)', async () => {
    const blocks = [...guide.matchAll(/<!-- examples\/on-call\/(\S+) -->\n\n```\w+\n([^]*?\n)```/g)];
    const printed = new Map(blocks.map(([, file = '', text = '']) => [file, text]));
    const entries = await readdir(EXAMPLE, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(EXAMPLE, join(parentPath, name)))
      .filter((file) => !/^(node_modules|dist)\//.test(file) && !NOT_SHOWN.has(file));
    expect([...printed.keys()]).to.have.members(files);
    for (const file of files) expect(printed.get(file), file).to.equal(await readFile(join(EXAMPLE, file), 'utf8'));
  });
});
