/**
 * The fast tests run in their own process; what starts another one belongs to test/e2e
 * (test/README.md).
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, sources } from './tree.js';

const ROOT = projectRoot();
/**
 * Programs of the bench and of the pictures are no tests; the helpers serve both tiers; smoke tests
 * start one each.
 */
const OTHERS = /^test\/(e2e|smoke|support|bench|pictures)\//;
const STARTS =
  /from '(node:child_process|node:cluster|playwright-core|[^']*\/support\/(programs|packed)\.js|[^']*\/e2e\/[^']*)'/;
const PROGRAM = /\bTestService\.started\(|\baos(Json)?\((?=\w*\.?env\b)/;

const findings = (text: string): string[] => [STARTS, PROGRAM].flatMap((pattern) => pattern.exec(text)?.[0] ?? []);

describe('architecture: test tiers', () => {
  it('requires tests that start processes to be in test/e2e', async () => {
    const files = (await sources(ROOT)).filter((file) => file.startsWith('test/') && !OTHERS.test(file));
    expect(files.length).to.be.above(300);
    const found: string[] = [];
    for (const file of files.filter((path) => path !== 'test/architecture/tiers.test.ts'))
      for (const what of findings(await readFile(join(ROOT, file), 'utf8'))) found.push(`${file}: ${what}`);
    expect(found).to.deep.equal([]);
  });

  for (const text of [
    "import { spawn } from 'node:child_process';",
    "import { Tab } from '../e2e/browser/chromium.js';",
    "import { run } from '../support/programs.js';",
    'service = await TestService.started();',
    "await aosJson(service.env, ['project', 'list'])",
  ])
    it(`detects ${text}`, () => expect(findings(text)).to.have.length(1));
});
