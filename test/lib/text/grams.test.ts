/** Grams: a text that contains a part has all of the part's grams, in any script. */
import { expect } from 'chai';
import fc from 'fast-check';
import { gramsOf, gramsWithin, hash32 } from '../../../lib/text/grams.js';

const anyText = fc.string({ unit: 'binary', maxLength: 40 });

describe('grams', () => {
  it('a text has all grams of every part of it', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, fc.integer({ min: 1, max: 3 }), (before, part, after, shortest) => {
        const grams = gramsOf(before + part + after, shortest);
        for (const gram of gramsWithin(part, shortest)) expect(grams.has(gram)).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it('a text has no grams but those of its parts of one to three characters', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 3 }), (text, shortest) => {
        const points = Array.from(text);
        const grams = new Set<number>();
        for (const i of points.keys())
          for (const size of [1, 2, 3])
            for (const gram of gramsWithin(points.slice(i, i + size).join(''), shortest)) grams.add(gram);
        expect(gramsOf(text, shortest)).to.deep.equal(grams);
      }),
      { numRuns: 500 },
    );
  });

  it('uses some grams of a long part, and none of a short one', () => {
    const long = 'The quick brown fox jumps over the lazy dog. '.repeat(40);
    expect(gramsWithin(long).size).to.be.greaterThan(20).and.at.most(48);
    expect(gramsWithin('')).to.have.property('size', 0);
    expect(gramsWithin('ab', 3)).to.have.property('size', 0);
    expect(gramsWithin('ab')).to.have.property('size', 1);
    expect(gramsWithin('\u{1f600}')).to.have.property('size', 1);
  });

  it('distinguishes texts and seeds', () => {
    expect(gramsOf('abc').has([...gramsWithin('abd')][0] as number)).to.equal(false);
    expect(hash32('a')).not.to.equal(hash32('b'));
    const [one] = gramsWithin('abc', 1, hash32('one'));
    expect(gramsOf('abc', 1, hash32('other')).has(one as number)).to.equal(false);
  });
});
