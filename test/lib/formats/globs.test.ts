import { expect } from 'chai';
import fc from 'fast-check';
import { createGlobMatcher, normalizeGlob, findGlobFault, findUnsupportedGlob } from '../../../lib/formats/globs.js';
import { expectLinear } from '../../support/cpu-time.js';

/** The same meaning, said as a regular expression: slow on purpose-built texts, and short. */
function oracle(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/(?<=^|\/)\*{2,}\/|\*{2,}|\*|\?/g, (token) => {
      if (token === '?') return '[^/]';
      if (token === '*') return '[^/]*';
      return token.endsWith('/') ? '(?:.*/)?' : '.*';
    });
  return new RegExp(`^${source}$`, 'su');
}

describe('globs over a complete relative path', () => {
  const cases: [glob: string, yes: string[], no: string[]][] = [
    ['*.pdb', ['app.pdb', '.pdb'], ['lib/app.pdb', 'app.pdb.gz']],
    ['**/*.pdb', ['app.pdb', 'lib/app.pdb', 'a/b/c.pdb'], ['app.pdbx']],
    ['config/**', ['config/a', 'config/a/b'], ['config', 'configs/a', 'x/config/a']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'a/xb', 'a/b/c']],
    ['**', ['a', 'a/b/c'], []],
    ['appsettings.?????.json', ['appsettings.local.json'], ['appsettings.json', 'appsettings.a/bcd.json']],
    ['data/*', ['data/x'], ['data/x/y', 'data']],
    ['[a].{b}', ['[a].{b}'], ['a.b']],
    ['?', ['ä', '😀'], ['', '/', 'ab']],
    ['Readme', ['Readme'], ['readme']],
    ['a**z', ['az', 'a/b/z'], ['a/b']],
  ];
  for (const [glob, yes, no] of cases)
    it(`matches the paths of ${glob}`, () => {
      const matches = createGlobMatcher([glob]);
      expect(yes.filter((path) => !matches(path))).to.deep.equal([]);
      expect(no.filter((path) => matches(path))).to.deep.equal([]);
    });

  it('match any of several patterns', () => {
    const matches = createGlobMatcher(['a', 'b/*']);
    expect([matches('a'), matches('b/c'), matches('c')]).to.deep.equal([true, true, false]);
    expect(createGlobMatcher([])('a')).to.equal(false);
  });

  it('match the same paths as the equivalent regular expression', () => {
    const part = fc.constantFrom('a', 'b', '/', '*', '**', '**/', '?', '.', '/**/');
    const glob = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
    const path = fc.array(fc.constantFrom('a', 'b', '/', '.', 'ab'), { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(glob, path, (glob, path) => {
        expect(createGlobMatcher([glob])(path), `${glob} on ${path}`).to.equal(oracle(glob).test(path));
      }),
      { numRuns: 3_000 },
    );
  });

  it('match in linear time', () => {
    const matches = createGlobMatcher(['**/*a'.repeat(40), '*a'.repeat(200), '**a'.repeat(200)]);
    expectLinear(() => expect(matches('a'.repeat(2_000) + 'b')).to.equal(false));
  });

  it('reject invalid patterns', () => {
    expect(findGlobFault('')).to.equal('is empty');
    expect(findGlobFault('a\\b')).to.match(/back-slash/);
    expect(findGlobFault('/a')).to.match(/relative/);
    expect(findGlobFault('x'.repeat(1_001))).to.match(/longer/);
    expect(findGlobFault('**/*.js')).to.equal(null);
  });

  it('match a folder with a trailing slash', () => {
    expect([normalizeGlob('secrets/'), normalizeGlob('a/*.txt')]).to.deep.equal(['secrets/**', 'a/*.txt']);
  });

  const UNSUPPORTED: [glob: string, why: RegExp][] = [
    ['{a,b}', /braces/],
    ['[ab].txt', /brackets/],
    ['!x', /must not start with !/],
    ['', /empty/],
    ['/a', /relative/],
  ];
  for (const [glob, why] of UNSUPPORTED)
    it(`reject ${glob === '' ? 'an empty pattern' : glob} in new patterns`, () =>
      expect(findUnsupportedGlob(glob)).to.match(why));
});
