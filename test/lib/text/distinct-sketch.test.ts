import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { estimateOf, EXACT_UP_TO, joined, printOf, withPrints, type Print } from '../../../lib/text/distinct-sketch.js';

const print = (seed: string | number): Print => printOf(createHash('sha256').update(String(seed)).digest());
const prints = (from: number, to: number, kind = ''): Print[] =>
  Array.from({ length: to - from }, (_, i) => print(`${kind}${from + i}`));
/** Of as many different things, by one hash for all. */
const manyPrints = (count: number, seed: string): Print[] => {
  const bytes = createHash('shake256', { outputLength: 32 * count })
    .update(seed)
    .digest();
  return Array.from({ length: count }, (_, i) => printOf(bytes.subarray(32 * i, 32 * (i + 1))));
};
const sketchOf = (all: readonly Print[]): string | null => withPrints(null, all);

/** Names of people, often of the same few. */
const people = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 300 }).map((names) => names.map(print));

describe('a sketch of different things', () => {
  it('is exact for few values, and null for none', () => {
    expect(estimateOf(null)).to.equal(0);
    expect(withPrints(null, [])).to.equal(null);
    for (let n = 1; n <= EXACT_UP_TO; n++) expect(estimateOf(sketchOf(prints(0, n)))).to.equal(n);
    expect(EXACT_UP_TO).to.be.at.least(50);
  });

  it('has at most 256 characters that JSON does not escape', () => {
    fc.assert(
      fc.property(people, fc.integer({ min: 0, max: 3_000 }), (few, many) => {
        const text = sketchOf([...few, ...prints(0, many)]) ?? '';
        expect(Buffer.byteLength(JSON.stringify(text))).to.be.at.most(258);
      }),
      { numRuns: 60 },
    );
  });

  it('estimates many values without bias, with a standard error below 5 %, up to a million', () => {
    for (const [n, rounds] of [
      [60, 1_000],
      [150, 1_000],
      [500, 600],
      [2_000, 300],
      [20_000, 100],
      [1_000_000, 1],
    ] as const) {
      const errors = Array.from({ length: rounds }, (_, round) => {
        let sketch: string | null = null;
        for (let from = 0; from < n; from += 50_000)
          sketch = withPrints(sketch, manyPrints(Math.min(50_000, n - from), `${n}/${round}/${from}`));
        return estimateOf(sketch) / n - 1;
      });
      const root = Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / rounds);
      expect(root, `${n}: standard error`).to.be.below(rounds === 1 ? 0.15 : 0.055);
      const lean = errors.reduce((sum, error) => sum + error, 0) / rounds;
      if (rounds >= 60) expect(Math.abs(lean), `${n}: mean error`).to.be.below(0.02);
    }
  });

  it('is the same text in any order, and the same sketch where nothing is new', () => {
    fc.assert(
      fc.property(people, people, (a, b) => {
        const whole = sketchOf([...a, ...b]);
        expect(sketchOf([...b, ...a])).to.equal(whole);
        expect(withPrints(sketchOf(a), b)).to.equal(whole);
        expect(withPrints(whole, a)).to.equal(whole);
      }),
    );
  });

  it('merges two sketches as if one had received all values: in any order and grouping, and repeatedly', () => {
    fc.assert(
      fc.property(people, people, people, (a, b, c) => {
        const [x, y, z] = [sketchOf(a), sketchOf(b), sketchOf(c)];
        expect(joined(x, y)).to.equal(sketchOf([...a, ...b]));
        expect(joined(y, x)).to.equal(joined(x, y));
        expect(joined(joined(x, y), z)).to.equal(joined(x, joined(y, z)));
        expect(joined(joined(x, y), y)).to.equal(joined(x, y));
        expect(joined(x, null)).to.equal(x);
      }),
    );
  });
});
