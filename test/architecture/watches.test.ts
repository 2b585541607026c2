/**
 * No test compares short times (CONTRIBUTING.md): another program on the machine would decide what
 * it says.
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, sources } from './tree.js';

const ROOT = projectRoot();
/**
 * Benchmarks measure; `cpu-time.ts` is where a test's processor time and its limits of seconds come
 * from.
 */
const MAY =
  /^test\/(bench\/|support\/cpu-time\.ts$|architecture\/watches\.test\.ts$|e2e\/plugins\/licensing\/load\.test\.ts$)/;
const WATCHES = /\bperformance\s*\.\s*now\b|\bhrtime\b|\bcpuUsage\b|\bconsole\s*\.\s*time\b/;
/** An expectation about the time that has passed. */
const PASSED = /expect\(\s*(Date\.now\(\)\s*-|passed\(\)[^;]*\.(below|lessThan|most|within)\()/;
/**
 * Limits that a busy machine reaches: of a test, and of a wait for a condition, an element or a
 * program.
 */
const LIMITS: readonly (readonly [pattern: RegExp, shortestMs: number])[] = [
  [/\bthis\.timeout\(([^;]*\d_\d[^;]*)\)/g, 300_000],
  [/\bwaitFor\w*\(.*\btimeout: ([\d_]+)/g, 60_000],
  [/\bexecFile.*\btimeout: ([\d_]+)/g, 60_000],
  [/\buntil\(['`].*, ([\d_]+)\);/g, 60_000],
];

/** The longest time of an expression such as `300_000 + ROUNDS * 60_000`. */
const longest = (expression: string): number =>
  Math.max(...(expression.replaceAll('_', '').match(/\d+/g) ?? []).map(Number));

const findings = (text: string): string[] => [
  ...[WATCHES, PASSED].flatMap((pattern) => pattern.exec(text)?.[0] ?? []),
  ...LIMITS.flatMap(([pattern, shortestMs]) =>
    [...text.matchAll(pattern)].filter(([, ms = '']) => longest(ms) < shortestMs).map(([whole]) => whole),
  ),
];

describe('architecture: no timing assertions in tests', () => {
  it('finds neither stopwatches nor short time limits in tests', async () => {
    const files = (await sources(ROOT)).filter((file) => /^test(ing)?\//.test(file) && !MAY.test(file));
    expect(files.length).to.be.above(300);
    const found: string[] = [];
    for (const file of files) {
      for (const what of findings(await readFile(join(ROOT, file), 'utf8'))) found.push(`${file}: ${what}`);
    }
    expect(found, 'count the work, or see test/support/cpu-time.ts').to.deep.equal([]);
  });

  for (const text of [
    'const began = performance.now();',
    'process.hrtime.bigint()',
    'process.cpuUsage(before)',
    "console.time('a')",
    'expect(Date.now() - began).to.be.below(40)',
    'expect(passed()).to.be.below(LIMIT_MS)',
    'this.timeout(180_000);',
    'this.timeout(times(120_000));',
    'this.timeout(ROUNDS * 2_000 + 240_000);',
    'await page.getByText(text).waitFor({ timeout: 30_000 });',
    "await promisify(execFile)('tar', [], { timeout: 20_000 });",
    "await until('it answers', async () => (await ask()).ok, 5_000);",
  ])
    it(`detects ${text}`, () => expect(findings(text)).to.have.length(1));

  for (const text of [
    'const end = Date.now() + ms;',
    'this.timeout(600_000);',
    'this.timeout(300_000 + ROUNDS * 60_000);',
    'this.timeout(2 * HANG_MS);',
    'expect(passed()).to.be.at.least(9_000)',
    "await until('it answers', async () => (await ask()).status === 200);",
  ])
    it(`accepts ${text}`, () => expect(findings(text)).to.deep.equal([]));
});
