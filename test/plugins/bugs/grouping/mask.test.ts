import { expect } from 'chai';
import { maskText } from '../../../../plugins/bugs/grouping/message-mask.js';

describe('bugs: disabled masks', () => {
  it('leave values of their kind in the text', () => {
    const text = 'order 1234567 took 12 ms';
    expect(maskText(text)).to.equal('order <number> took <duration>');
    expect(maskText(text, { numbers: false })).to.equal('order 1234567 took <duration>');
    expect(maskText(text, { measures: false })).to.equal('order <number> took 12 ms');
  });
});
