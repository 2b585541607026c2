/**
 * What a developer does not wait for is done by `.ci/run`: each test that asks for its budget
 * (test/support/repeat-budget.ts).
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { projectRoot, sources } from './tree.js';

const ROOT = projectRoot();

/** The words of `.ci/run` that choose files for more than one budget. */
async function named(): Promise<string[]> {
  const script = (await readFile(join(ROOT, '.ci', 'run'), 'utf8')).replaceAll('\\\n', ' ');
  const calls = [...script.matchAll(/SVC_TEST_BUDGET=(\d+)[^\n]*scripts\/test\.mjs all --jobs=2 ([^\n]*)/g)];
  return calls.filter(([, budget]) => Number(budget) > 1).flatMap(([, , words = '']) => words.trim().split(/\s+/));
}

describe('architecture: test budgets', () => {
  it('requires .ci/run to list each test that reads its budget, directly or through another file', async () => {
    const words = await named();
    const isNamed = (file: string): boolean => words.some((word) => file.slice('test/'.length).includes(word));
    const texts = new Map<string, string>();
    for (const file of (await sources(ROOT)).filter((path) => path.startsWith('test/')))
      texts.set(file, await readFile(join(ROOT, file), 'utf8'));
    const importers = (name: string): string[] =>
      [...texts].filter(([, text]) => text.includes(`/${name}.js';`)).map(([file]) => file);
    const asking = importers('repeat-budget');
    expect(asking).to.have.length.above(10);
    const left = asking.filter((file) => {
      const served = file.endsWith('.test.ts') ? [file] : importers(basename(file, '.ts'));
      return !served.some(isNamed);
    });
    expect(left).to.deep.equal([]);
  });
});
