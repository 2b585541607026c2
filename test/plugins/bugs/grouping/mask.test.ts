/** Masking remembers what it has masked: per set of options, and whatever came between. */
import { expect } from 'chai';
import { mask } from '../../../../plugins/bugs/grouping/mask.js';

describe('bugs: masks that are remembered', () => {
  it('keeps the options apart', () => {
    const text = 'order 1234567 took 12 ms';
    const numbers = { numbers: false };
    for (let i = 0; i < 2; i++) {
      expect(mask(text)).to.equal('order <number> took <duration>');
      expect(mask(text, numbers)).to.equal('order 1234567 took <duration>');
      expect(mask(text, { measures: false })).to.equal('order <number> took 12 ms');
    }
  });

  it('answers the same after more texts than it remembers', () => {
    const texts = Array.from({ length: 1_200 }, (_, i) => `user ${1_000_000 + i} of 'x${i}' left`);
    const first = texts.map((text) => mask(text));
    expect(new Set(first)).to.deep.equal(new Set(["user <number> of '<value>' left"]));
    expect(texts.map((text) => mask(text))).to.deep.equal(first);
  });
});
