/** The examples of docs/grouping.md and docs/masking.md group as the pages say. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { findPackageRoot } from '../../config/load.js';
import { computeGrouping, type GroupingInput } from '../../plugins/bugs/grouping/grouping-key.js';

const pages = ['grouping.md', 'masking.md'].map((name) => readFile(join(findPackageRoot(), 'docs', name), 'utf8'));
const page = (await Promise.all(pages)).join('\n');
const report: GroupingInput = { type: 'error', project: 'shop', exception_class: 'Failure', error_message: 'x' };

/** The rows under the heading that begins so, without their code quotes. */
function rows(heading: string): { a: string; b: string; groups: string }[] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} `));
  expect(start, heading).to.be.greaterThan(-1);
  const table = lines.slice(start + 2);
  return table.slice(0, table.indexOf('')).map((line) => {
    const [, a = '', b = '', groups = ''] = line.split('|').map((cell) => cell.trim());
    return { a: a.slice(1, -1), b: b.slice(1, -1), groups };
  });
}

function check(heading: string, inputs: (cell: string, second: boolean) => Partial<GroupingInput>): void {
  for (const { a, b, groups } of rows(heading)) {
    it(`${a} and ${b} form ${groups} group(s)`, () => {
      const key = (cell: string, second: boolean): string =>
        computeGrouping({ ...report, ...inputs(cell, second) }).dedup_key;
      expect(groups).to.be.oneOf(['one', 'two']);
      expect(key(a, false) === key(b, true)).to.equal(groups === 'one');
    });
  }
}

describe('docs/grouping.md and docs/masking.md', () => {
  check('First message', (error_message) => ({ error_message, file_path: 'src/a.php' }));
  check('First file', (file_path) => ({ file_path }));
  check('Fingerprint of the first', (cell, second) => ({
    fingerprint: JSON.parse(cell) as string[],
    error_message: second ? 'declined' : 'timed out',
    file_path: second ? 'src/b.php' : 'src/a.php',
  }));
});
