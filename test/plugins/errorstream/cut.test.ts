/** Cutting to a limit (contract 21, intake): in characters, and nothing that fits is touched. */
import { expect } from 'chai';
import fc from 'fast-check';
import { cutText } from '../../../lib/text/cut-text.js';
import {
  truncateHead,
  truncateNewest,
  truncateObject,
  truncateStackTrace,
} from '../../../plugins/errorstream/truncate.js';
import { getJsonSize } from '../../../lib/json/json-size.js';
import type { Json } from '../../../ports/store/index.js';
import { expectLinear } from '../../support/cpu-time.js';

/** Letters of one and of two units. */
const UNITS = fc.constantFrom('a', 'ß', '漢', '😀', '𝔸', '\n');
const count = (text: string): number => Array.from(text).length;

describe('errorstream: truncation', () => {
  it('counts characters, and never splits a surrogate pair', () => {
    expect(cutText('😀'.repeat(10), 10)).to.equal('😀'.repeat(10));
    expect(cutText('😀'.repeat(11), 10)).to.equal('😀'.repeat(10));
    expect(truncateHead('😀'.repeat(11), 10)).to.equal('😀'.repeat(10));
    fc.assert(
      fc.property(fc.string({ unit: UNITS, maxLength: 40 }), fc.nat({ max: 30 }), (text, limit) => {
        const characters = Array.from(text);
        expect(cutText(text, limit)).to.equal(characters.slice(0, limit).join(''));
        expect(truncateHead(text, limit)).to.equal(limit === 0 ? '' : characters.slice(-limit).join(''));
      }),
    );
  });

  it('preserves the end of a Python stack, whose last frame is the origin', () => {
    const frames = Array.from({ length: 40 }, (_, i) => `  File "/app/f${i}.py", line ${i}, in f\n`).join('');
    const cut = truncateStackTrace(`Traceback (most recent call last):\n${frames}ValueError: x`, 200);
    expect(count(cut)).to.equal(200);
    expect(cut).to.match(/^Traceback \(most recent call last\):\n/);
    expect(cut).to.match(/File "\/app\/f39\.py", line 39, in f\nValueError: x$/);
    expect(truncateStackTrace('at a (x.js:1:1)\nat b (y.js:1:1)', 10)).to.equal('at a (x.js');
  });

  it('measures plain JSON exactly, up to the limit', () => {
    const plain = { a: [1, true, null, 'x'], b: { c: 'text' }, d: [], e: {} };
    expect(getJsonSize(plain, 1000)).to.equal(JSON.stringify(plain).length);
    const exact = { a: 'x'.repeat(32_768 - JSON.stringify({ a: '' }).length) };
    expect(truncateObject(exact, 32_768)).to.equal(exact);
    expect(truncateObject({ a: `${exact.a}x` }, 32_768)).not.to.equal(exact);
  });

  it('shortens long texts first to preserve their siblings', () => {
    const cut = truncateObject({ blob: 'x'.repeat(40_000), user: 'bob', list: [1, 2] }, 32_768);
    expect(cut).to.include({ user: 'bob', blob: 'x'.repeat(4096) });
    expect(cut['list']).to.deep.equal([1, 2]);
  });

  it('fits any object into any limit without adding data', () => {
    const objects = fc.dictionary(fc.string({ unit: 'grapheme-ascii', maxLength: 5 }), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(objects, fc.integer({ min: 2, max: 80 }), (value, limit) => {
        const given = value as { [key: string]: Json };
        const cut = truncateObject(given, limit);
        expect(getJsonSize(cut, 10_000)).to.be.at.most(Math.max(limit, 2));
        expect(Object.keys(given)).to.include.members(Object.keys(cut));
        if (getJsonSize(given, limit) <= limit) expect(cut).to.equal(given);
      }),
    );
  });

  it('retains the newest entries of a list', () => {
    const list = Array.from({ length: 60 }, (_, i) => ({ n: i }));
    expect(truncateNewest(list, 50, 10_000)).to.deep.equal(list.slice(10));
    expect(truncateNewest(list, 60, 10_000)).to.equal(list);
    expect(truncateNewest(['a'.repeat(50), 'b', 'c'], 50, 20)).to.deep.equal(['b', 'c']);
  });

  it('stops early for values that are far too large', () => {
    const made = { blob: 'x'.repeat(8_000_000), list: Array.from({ length: 90_000 }, (_, i) => i) };
    const huge = JSON.parse(JSON.stringify(made)) as typeof made;
    expectLinear(() => {
      truncateObject(huge, 32_768);
      cutText(huge.blob, 8192);
      truncateNewest(huge.list, 50, 65_536);
    });
  });
});
