/** Comments are read in full on any screen: at most 120 characters a line, which the formatter does not see to. */
import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEBTS, longCommentsOf, WIDTH } from './comments.js';
import { projectRoot, sources } from './tree.js';

const ROOT = projectRoot();

/** Programs of the build and of the pages, which no compiler reads. */
async function programs(folder: string): Promise<string[]> {
  const names = await readdir(join(ROOT, folder), { recursive: true });
  return names.filter((name) => /\.m?js$/.test(name)).map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
}

describe('comments', function () {
  this.timeout(60_000);
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

  const inside = (unit: string, file: string): boolean => file === unit || file.startsWith(`${unit}/`);

  it(`are at most ${WIDTH} characters a line`, () => {
    const wrong = [...found].filter(([file]) => ![...DEBTS.keys()].some((unit) => inside(unit, file)));
    expect(wrong.map(([file, lines]) => `${file}: line ${lines.join(', ')}`)).to.deep.equal([]);
  });

  it('of the units that still owe it become fewer, never more', () => {
    const counted = [...DEBTS].map(([unit, most]) => {
      const lines = [...found].filter(([file]) => inside(unit, file)).flatMap(([, long]) => long).length;
      return { unit, most, lines };
    });
    expect(counted.filter(({ most, lines }) => lines > most)).to.deep.equal([]);
    const paid = counted.filter(({ lines }) => lines === 0).map(({ unit }) => unit);
    expect(paid, 'has no long line left: take it off the list').to.deep.equal([]);
  });

  it('are told from code', () => {
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
