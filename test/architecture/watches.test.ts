/** No test compares short times (CONTRIBUTING.md): another program on the machine would decide what it says. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, sources } from './tree.js';

const ROOT = projectRoot();
/** Benchmarks measure; `work.ts` is where a test's processor time and its limits of seconds come from. */
const MAY =
  /^test\/(bench\/|support\/work\.ts$|architecture\/watches\.test\.ts$|e2e\/plugins\/licensing\/load\.test\.ts$)/;
const WATCHES = /\bperformance\s*\.\s*now\b|\bhrtime\b|\bcpuUsage\b|\bconsole\s*\.\s*time\b/;
/** An expectation about the time that has passed. */
const PASSED = /expect\(\s*(Date\.now\(\)\s*-|passed\(\)[^;]*\.(below|lessThan|most|within)\()/;
/** A limit for a test that a busy machine reaches. */
const LIMIT = /(?<!AbortSignal)\.timeout\(([\d_]+)\)/g;
const SHORTEST_MS = 60_000;

const findings = (text: string): string[] => [
  ...[WATCHES, PASSED].flatMap((pattern) => pattern.exec(text)?.[0] ?? []),
  ...[...text.matchAll(LIMIT)]
    .filter(([, ms = '']) => Number(ms.replaceAll('_', '')) < SHORTEST_MS)
    .map(([whole]) => whole),
];

describe('architecture: no test compares short times', () => {
  it('tests take no watch of their own', async () => {
    const files = (await sources(ROOT)).filter((file) => /^test(ing)?\//.test(file) && !MAY.test(file));
    expect(files.length).to.be.above(300);
    const found: string[] = [];
    for (const file of files) {
      for (const what of findings(await readFile(join(ROOT, file), 'utf8'))) found.push(`${file}: ${what}`);
    }
    expect(found, 'count the work, or see test/support/work.ts').to.deep.equal([]);
  });

  for (const text of [
    'const began = performance.now();',
    'process.hrtime.bigint()',
    'process.cpuUsage(before)',
    "console.time('a')",
    'expect(Date.now() - began).to.be.below(40)',
    'expect(passed()).to.be.below(LIMIT_MS)',
    'this.timeout(20_000)',
  ])
    it(`sees ${text}`, () => expect(findings(text)).to.have.length(1));

  it('lets a clock be read, and a test have a long limit', () =>
    expect(
      findings('const end = Date.now() + ms; this.timeout(240_000); expect(passed()).to.be.at.least(9_000)'),
    ).to.deep.equal([]));
});
