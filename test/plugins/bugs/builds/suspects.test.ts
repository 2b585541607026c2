/** Which commits of a release may have brought an error. */
import { expect } from 'chai';
import { listTracePaths, rankSuspectCommits } from '../../../../plugins/bugs/builds/suspect-commits.js';
import { expectLinear } from '../../../support/cpu-time.js';
import type { BuildCommit } from '../../../../ports/domain/releases.js';

const commit = (id: string, ...files: string[]): BuildCommit => ({
  id,
  author_name: 'Ada',
  timestamp: null,
  message: id,
  files,
});
const order = (commits: readonly BuildCommit[], paths: readonly string[]): [string, string | null][] =>
  rankSuspectCommits(commits, paths).map(({ id, touched }) => [id, touched]);

describe('bugs: suspect commits', () => {
  it('are ordered by position of their file in the trace, then newest first, then all others', () => {
    const commits = [
      commit('docs', 'README.md'),
      commit('caller', 'web/src/shop.js'),
      commit('newer', 'web/src/cart.js', 'README.md'),
      commit('older', 'web/src/cart.js'),
    ];
    const trace = 'TypeError: x\n    at total (/app/src/cart.js:3:7)\n    at checkout (/app/src/shop.js:9:1)';
    expect(order(commits, listTracePaths('/app/src/cart.js', trace))).to.deep.equal([
      ['newer', 'web/src/cart.js'],
      ['older', 'web/src/cart.js'],
      ['caller', 'web/src/shop.js'],
      ['docs', null],
    ]);
  });

  for (const [what, trace, file] of [
    ['Node', 'E: x\n    at total (file:///app/src/cart.mjs:3:7)', 'src/cart.mjs'],
    ['a bundler', 'E: x\n    at total (webpack-internal:///./src/cart.ts?4f:3:7)', 'shop/src/cart.ts'],
    ['Python', 'Traceback:\n  File "/srv/shop/cart.py", line 4, in total', 'shop/cart.py'],
    ['Java', 'E: x\n\tat shop.Cart.total(Cart.java:12)', 'src/main/java/shop/Cart.java'],
    ['Windows', String.raw`   at Shop.Cart.Total() in C:\build\Shop\Cart.cs:line 42`, 'Shop/Cart.cs'],
    ['Go', 'panic: x\n\tmain.total()\n\t/src/shop/cart.go:9 +0x1d', 'shop/cart.go'],
  ] as const)
    it(`are found for a trace of ${what}`, () => {
      expect(order([commit('other', 'x/y.z'), commit('it', file)], listTracePaths(null, trace))[0]).to.deep.equal([
        'it',
        file,
      ]);
    });

  it('are not matched by a file of the same name in another folder', () => {
    expect(order([commit('it', 'admin/index.js')], listTracePaths('shop/index.js', null))).to.deep.equal([
      ['it', null],
    ]);
  });

  it('are found in linear time for a hostile trace', () => {
    expectLinear(() => {
      for (const piece of ['.', ':', 'a.', 'a:1:', '/', '\\', ':1', '('])
        listTracePaths(piece.repeat(9_999), piece.repeat(99_999));
    });
  });
});
