/**
 * Comments are read in full on any screen: at most 120 characters a line, which the formatter does
 * not see to.
 */
import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { longCommentsOf, WIDTH } from './comments.js';
import { projectRoot, sources } from './tree.js';

const ROOT = projectRoot();

/** Programs of the build and of the pages, which no compiler reads. */
async function programs(folder: string): Promise<string[]> {
  const names = await readdir(join(ROOT, folder), { recursive: true });
  return names.filter((name) => /\.m?js$/.test(name)).map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
}

describe('architecture: comments', function () {
  const found = new Map<string, number[]>();

  before(async () => {
    const own = (await sources(ROOT)).filter((file) => !file.startsWith('test/'));
    const files = [...own, ...(await programs('scripts')), ...(await programs('web/assets'))];
    expect(files.length).to.be.greaterThan(500);
    for (const file of files) {
      const long = longCommentsOf(await readFile(join(ROOT, file), 'utf8'));
      if (long.length > 0) found.set(file, long);
    }
  });

  it(`are at most ${WIDTH} characters per line`, () => {
    const wrong = [...found].map(([file, lines]) => `${file}: line ${lines.join(', ')}`);
    expect(wrong).to.deep.equal([]);
  });

  it('are distinguished from code', () => {
    const long = 'x'.repeat(WIDTH);
    const text = [
      `// ${long}`,
      `/** ${long} */`,
      ` * ${long}`,
      `const a = '${long}';`,
      `call(); // ${long}`,
      `// short`,
    ];
    expect(longCommentsOf(text.join('\n'))).to.deep.equal([1, 2, 3, 5]);
    expect(longCommentsOf(`const url = 'https://${long}';`)).to.deep.equal([]);
  });
});
