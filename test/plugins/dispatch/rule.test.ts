/** Which items a rule of dispatch fits. */
import { expect } from 'chai';
import { matchesRequestRule, formatRuleName } from '../../../plugins/dispatch/request-rule.js';

const RULE = {
  id: 'r1',
  project: null,
  severity: null,
  tag: null,
  agent: 'fixer',
  enabled: true,
  created_by: 'admin',
  created_at: '2026-01-01T00:00:00.000Z',
};
const ITEM: Parameters<typeof matchesRequestRule>[1] = { project: 'shop', severity: 'high', tags: ['checkout'] };

describe('dispatch: rules', () => {
  for (const [what, change, expected] of [
    ['no condition', {}, true],
    ['the project of the item', { project: 'shop' }, true],
    ['another project', { project: 'mailer' }, false],
    ['a lower severity', { severity: 'medium' }, true],
    ['the severity of the item', { severity: 'high' }, true],
    ['a graver severity', { severity: 'critical' }, false],
    ['a tag of the item', { tag: 'checkout' }, true],
    ['another tag', { tag: 'night' }, false],
    ['no condition, but disabled', { enabled: false }, false],
  ] as const)
    it(`${expected ? 'fit' : 'do not fit'} an item with ${what}`, () => {
      expect(matchesRequestRule({ ...RULE, ...change }, ITEM)).to.equal(expected);
    });

  it('are named by their conditions', () => {
    expect(formatRuleName(RULE)).to.equal('all items');
    expect(formatRuleName({ ...RULE, project: 'shop', severity: 'high', tag: 'x' })).to.equal(
      'high or graver of shop tagged x',
    );
  });
});
