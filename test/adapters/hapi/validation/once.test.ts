import { expect } from 'chai';
import { memoize } from '../../../../adapters/hapi/validation/memoize.js';

describe('hapi: once', () => {
  it('computes the value at the first call, and caches it, including undefined', () => {
    const made: number[] = [];
    const value = memoize(() => void made.push(1));
    expect(made).to.deep.equal([]);
    expect([value(), value()]).to.deep.equal([undefined, undefined]);
    expect(made).to.deep.equal([1]);
  });

  it('computes the value again after a failure', () => {
    let calls = 0;
    const value = memoize(() => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
      return calls;
    });
    expect(value).to.throw('not yet');
    expect([value(), value()]).to.deep.equal([2, 2]);
  });
});
