import { expect } from 'chai';
import { ThreadYamlParser } from '../../../../adapters/node/yaml/thread-yaml-parser.js';
import { YamlRejected } from '../../../../ports/yaml-parser.js';

const parser = new ThreadYamlParser();

async function getProblem(text: string, by = parser): Promise<string> {
  const error: unknown = await by.parse(text).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error, text.slice(0, 60)).to.be.instanceOf(YamlRejected);
  return (error as Error).message;
}

describe('YAML parser', () => {
  it('parses YAML 1.2 with aliases and merge keys', async () => {
    const text = 'base: &base {a: 1, on: yes}\nall:\n  - <<: *base\n    b: "2"\n  - null\n  - 2026-11-29\n';
    expect(await parser.parse(text)).to.deep.equal({
      base: { a: 1, on: 'yes' },
      all: [{ a: 1, on: 'yes', b: '2' }, null, '2026-11-29'],
    });
    expect(await parser.parse('')).to.equal(null);
  });

  for (const [name, text, problem] of [
    ['a syntax error', 'a: [1', /flow sequence/i],
    ['several documents', 'a: 1\n---\nb: 2', /multiple documents/],
    ['a duplicate key', 'a: {b: 1, c: 2, b: 3}', /^duplicate key b$/],
    ['a number that JSON lacks', 'a: .inf', /^Infinity is not supported$/],
    ['an alias of itself', 'a: &a [*a]', /circular/i],
    ['aliases of aliases', multiplyAliases(), /alias count/],
    ['merged maps that repeat too much', mergeManyTimes(), /^aliases repeat too much$/],
    ['deep brackets', '['.repeat(500_000), /^nested too deeply$/],
    ['deep lists', '- '.repeat(500_000), /^nested too deeply$/],
  ] as [string, string, RegExp][])
    it(`rejects ${name}`, async () => {
      expect(await getProblem(text)).to.match(problem);
    });

  it('lets the event loop turn while it parses a mebibyte', async () => {
    const text = `a: [${'{b: c},'.repeat(140_000)}]`;
    let turns = 0;
    let isParsing = true;
    const count = (): void => {
      turns += 1;
      if (isParsing) setImmediate(count);
    };
    setImmediate(count);
    await parser.parse(text).finally(() => (isParsing = false));
    expect(turns).to.be.above(100);
  });

  it('stops at the time limit, and parses the next document', async () => {
    const impatient = new ThreadYamlParser(0);
    expect(await getProblem('a: 1', impatient)).to.match(/too long/);
    expect(await parser.parse('a: 1')).to.deep.equal({ a: 1 });
  });
});

function mergeManyTimes(): string {
  const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join(',');
  return `a: &a {${keys}}\nb:\n${'  - <<: *a\n'.repeat(20)}`;
}

function multiplyAliases(): string {
  const levels = ['b', 'c', 'd', 'e'].map((name, at) => `${name}: &${name} [${`*${'abcd'[at]},`.repeat(9)}]`);
  return ['a: &a [x]', ...levels].join('\n');
}
