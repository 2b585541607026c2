/** Suspect commits as agents read them. */
import { expect } from 'chai';
import { formatItemDetail, formatClaim } from '../../../../plugins/bugs/http/tool-answers.js';

const commit = (id: string, touched: string | null): object => ({
  id: id.repeat(40),
  author_name: 'Ada',
  timestamp: null,
  message: 'Round prices',
  files: ['src/cart.js'],
  touched,
});
const LINE = 'aaaaaaaaaaaa · src/cart.js · Ada · Round prices';

describe('bugs: suspect commits for agents', () => {
  for (const [name, answer] of [
    ['get', formatItemDetail],
    ['next', formatClaim],
  ] as const)
    it(`have one line each in ${name}, before code and spread, marked as external text`, () => {
      const suspect_commits = [commit('a', 'src/cart.js'), commit('b', null)];
      const reported = answer({ item: { ref: 'shop-1' }, suspect_commits, code_url: 'https://forge.test/x' });
      expect(reported['suspects']).to.deep.equal({ commits: [LINE], untrusted_fields: ['commits'] });
      const names = Object.keys(reported);
      expect(names.indexOf('suspects')).to.be.below(names.indexOf('code_url'));
    });

  it('include at most three, and none when no commit touched a file of the trace', () => {
    const many = Array.from({ length: 9 }, () => commit('a', 'src/cart.js'));
    expect(formatItemDetail({ item: {}, suspect_commits: many })['suspects']).to.deep.equal({
      commits: [LINE, LINE, LINE],
      untrusted_fields: ['commits'],
    });
    expect(formatItemDetail({ item: {}, suspect_commits: [commit('b', null)] })).to.not.have.property('suspects');
  });
});
