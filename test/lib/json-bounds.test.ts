import { expect } from 'chai';
import fc from 'fast-check';
import { boundJson } from '../../lib/json/json-bounds.js';

const bounds = { depth: 3, deeper: () => '…' };

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

describe('lib: JSON bounds', () => {
  it('returns the same value when nothing changes', () => {
    const value = { a: [1, 'x', null, true, { b: 2 }] };
    expect(boundJson(value, bounds)).to.equal(value);
  });

  it('truncates deeper values, and does not modify its input', () => {
    const value = { a: { b: { c: { d: 1 } } }, e: [[[[2]]]] };
    const before = structuredClone(value);
    expect(boundJson(value, bounds)).to.deep.equal({ a: { b: { c: '…' } }, e: [['…']] });
    expect(value).to.deep.equal(before);
  });

  it('applies to strings and keys', () => {
    const text = (raw: string): string => raw.replaceAll('!', '?');
    expect(boundJson({ 'a!': ['b!', 1] }, { ...bounds, text })).to.deep.equal({ 'a?': ['b?', 1] });
  });

  it('treats __proto__ as an ordinary key', () => {
    const value: unknown = JSON.parse('{"__proto__": {"a": "x!"}, "b": 1}');
    const kept = boundJson(value, { ...bounds, text: (raw) => raw.replace('!', '') }) as object;
    expect(Object.getPrototypeOf(kept)).to.equal(Object.prototype);
    expect(JSON.stringify(kept)).to.equal('{"__proto__":{"a":"x"},"b":1}');
  });

  it('never exceeds the depth, and returns shallower values unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 1, max: 6 }), (value, depth) => {
        const kept = boundJson(value, { depth, deeper: () => null });
        expect(depthOf(kept)).to.be.at.most(depth);
        if (depthOf(value) <= depth) expect(kept).to.equal(value);
      }),
    );
  });
});
