import { expect } from 'chai';
import { findChangedFields } from '../../lib/changed-fields.js';

describe('lib: changedFields', () => {
  it('returns the named fields, before and after', () => {
    const before = { name: 'a', enabled: true, tags: ['x'], hidden: 1 };
    const after = { name: 'b', enabled: false, tags: [], hidden: 2 };
    expect(findChangedFields(before, after, ['name', 'enabled', 'tags', 'gone'])).to.deep.equal({
      before: { name: 'a', enabled: true, tags: '["x"]', gone: null },
      after: { name: 'b', enabled: false, tags: '[]', gone: null },
    });
  });

  it('shows only whether a secret is set', () => {
    const { before, after } = findChangedFields({ secret: null }, { secret: 'sealed:abc' }, ['secret'], ['secret']);
    expect([before, after]).to.deep.equal([{ secret: null }, { secret: 'set' }]);
  });

  it('truncates long texts', () => {
    expect(findChangedFields({ text: 'x'.repeat(600) }, {}, ['text']).before['text']).to.have.length(500);
  });
});
