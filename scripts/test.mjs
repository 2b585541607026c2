// Runs mocha on the compiled tests of a tier: `fast` (npm test), `e2e` (npm run test:e2e) or `all`.
// Files are listed from the sources, because dist/ may contain outdated ones. A word selects files
// by path; options such as --grep=text are passed to mocha.
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const [tier, ...args] = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('-'));
/** Files of this tier mostly wait for their programs. */
if (tier === 'e2e' && !options.some((option) => option.startsWith('--jobs=')))
  options.push(`--jobs=${3 * availableParallelism()}`);
/** Accepts source and compiled paths. */
const words = args
  .filter((arg) => !arg.startsWith('-'))
  .map((word) => word.replace(/^(\.\/)?(dist\/)?test\//, '').replace(/\.ts$/, '.js'));
const isInTier = (name) => tier === 'all' || name.startsWith('e2e/') === (tier === 'e2e');
const matches = (name) => words.some((word) => name.includes(word) && (isInTier(name) || word.startsWith('e2e/')));

const names = readdirSync(join(ROOT, 'test'), { recursive: true })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.test.ts') && !name.startsWith('fixtures/'))
  .map((name) => name.replace(/\.ts$/, '.js'))
  .filter(words.length === 0 ? isInTier : matches)
  .toSorted((a, b) => (a < b ? -1 : 1));
if (names.length === 0) {
  console.error(`no test file of this tier has a path with ${words.join(' or ')}`);
  console.log('0 passed, 0 failed');
  process.exit(1);
}
process.chdir(ROOT);
process.argv.splice(2, Infinity, ...options, ...names.map((name) => `dist/test/${name}`));
await import('mocha/bin/mocha.js');
