import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  estimateDistinct,
  MAX_EXACT_COUNT,
  mergeSketches,
  toSketchHash,
  addHashes,
  type SketchHash,
} from '../../../lib/text/distinct-sketch.js';

const print = (seed: string | number): SketchHash => toSketchHash(createHash('sha256').update(String(seed)).digest());
const prints = (from: number, to: number, kind = ''): SketchHash[] =>
  Array.from({ length: to - from }, (_, i) => print(`${kind}${from + i}`));
/** Of as many different things, by one hash for all. */
const manyPrints = (count: number, seed: string): SketchHash[] => {
  const bytes = createHash('shake256', { outputLength: 32 * count })
    .update(seed)
    .digest();
  return Array.from({ length: count }, (_, i) => toSketchHash(bytes.subarray(32 * i, 32 * (i + 1))));
};
const sketchOf = (all: readonly SketchHash[]): string | null => addHashes(null, all);

/** Names of people, often of the same few. */
const people = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 300 }).map((names) => names.map(print));

describe('lib: distinct-count sketch', () => {
  it('is exact for few values, and null for no values', () => {
    expect(estimateDistinct(null)).to.equal(0);
    expect(addHashes(null, [])).to.equal(null);
    for (let n = 1; n <= MAX_EXACT_COUNT; n++) expect(estimateDistinct(sketchOf(prints(0, n)))).to.equal(n);
    expect(MAX_EXACT_COUNT).to.be.at.least(50);
  });

  it('has at most 256 characters, none of which JSON escapes', () => {
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
          sketch = addHashes(sketch, manyPrints(Math.min(50_000, n - from), `${n}/${round}/${from}`));
        return estimateDistinct(sketch) / n - 1;
      });
      const root = Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / rounds);
      expect(root, `${n}: standard error`).to.be.below(rounds === 1 ? 0.15 : 0.055);
      const lean = errors.reduce((sum, error) => sum + error, 0) / rounds;
      if (rounds >= 60) expect(Math.abs(lean), `${n}: mean error`).to.be.below(0.02);
    }
  });

  it('is the same text in any order, and unchanged for repeated values', () => {
    fc.assert(
      fc.property(people, people, (a, b) => {
        const whole = sketchOf([...a, ...b]);
        expect(sketchOf([...b, ...a])).to.equal(whole);
        expect(addHashes(sketchOf(a), b)).to.equal(whole);
        expect(addHashes(whole, a)).to.equal(whole);
      }),
    );
  });

  it('merges two sketches as if one had received all values, associatively and idempotently', () => {
    fc.assert(
      fc.property(people, people, people, (a, b, c) => {
        const [x, y, z] = [sketchOf(a), sketchOf(b), sketchOf(c)];
        expect(mergeSketches(x, y)).to.equal(sketchOf([...a, ...b]));
        expect(mergeSketches(y, x)).to.equal(mergeSketches(x, y));
        expect(mergeSketches(mergeSketches(x, y), z)).to.equal(mergeSketches(x, mergeSketches(y, z)));
        expect(mergeSketches(mergeSketches(x, y), y)).to.equal(mergeSketches(x, y));
        expect(mergeSketches(x, null)).to.equal(x);
      }),
    );
  });
});
