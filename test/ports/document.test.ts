import { expect } from 'chai';
import fc from 'fast-check';
import {
  applyUpdate,
  compareText,
  compareValues,
  stringifyJson,
  matchesFilter,
  toPlainUpdate,
  buildSeed,
  toTotalSort,
  getUniqueValue,
  getPathValue,
} from '../../ports/document.js';
import type { Doc, Update } from '../../ports/store/index.js';

const change = (doc: object, update: Update): Doc => applyUpdate({ id: 'a', ...doc }, toPlainUpdate(update));

describe('document semantics', () => {
  it('orders strings by their UTF-8 bytes', () => {
    const wellFormed = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(
        wellFormed,
        wellFormed,
        (a, b) => Math.sign(compareText(a, b)) === Buffer.compare(Buffer.from(a), Buffer.from(b)),
      ),
      { numRuns: 2000 },
    );
    expect(compareText('\uffee', '😀')).to.be.lessThan(0);
  });

  it('orders null, numbers, strings, objects, booleans', () => {
    const sorted = [null, -1, 2, '', 'a', {}, false, true];
    expect([...sorted].reverse().sort(compareValues)).to.deep.equal(sorted);
  });

  it('stringifyJson replaces lone surrogates only', () => {
    expect(
      stringifyJson({ a: 'x\ud800', b: '\udc00\udc00', c: '😀', d: '\\ud800', e: '\\\ud800', '\udfff': undefined }),
    ).to.equal('{"a":"x\\ufffd","b":"\\ufffd\\ufffd","c":"😀","d":"\\\\ud800","e":"\\\\\\ufffd"}');
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.array(fc.constantFrom('\ud800', '\udbff', '\udc00', '\\', 'u', 'd800', 'x')),
        (a, b) => {
          const text = a + b.join('');
          expect(JSON.parse(stringifyJson(text))).to.equal(Buffer.from(text).toString());
        },
      ),
    );
  });

  it('adds the id once as tie-breaker to the sort', () => {
    expect(toTotalSort()).to.deep.equal([['id', 'asc']]);
    expect(toTotalSort([['a', 'desc']])).to.deep.equal([
      ['a', 'desc'],
      ['id', 'desc'],
    ]);
    expect(
      toTotalSort([
        ['id', 'desc'],
        ['a', 'asc'],
      ]),
    ).to.deep.equal([['id', 'desc']]);
    expect(() => toTotalSort([['a"', 'asc']])).to.throw(TypeError);
  });

  it('resolves paths only through own properties of objects', () => {
    expect(getPathValue({ a: { b: 1 } }, 'a.b')).to.equal(1);
    expect(getPathValue({ a: [{ b: 1 }] }, 'a.0.b')).to.equal(null);
    expect(getPathValue({}, 'constructor.name')).to.equal(null);
    expect(getPathValue({ a: 'text' }, 'a.length')).to.equal(null);
  });

  it('writes below `constructor` to the document, never to the prototype', () => {
    expect(change({}, { set: { 'constructor.prototype.x': 1 } })).to.have.own.property('constructor');
    expect(({} as { x?: number }).x).to.equal(undefined);
    expect(() => change({}, { set: { '__proto__.x': 1 } })).to.throw(TypeError);
  });

  it('rejects an update that no engine could apply atomically', () => {
    const bad: Update[] = [
      { set: { a: 1 }, unset: ['a'] },
      { set: { a: {} }, inc: { 'a.b': 1 } },
      { set: { 'a.b': 1 }, push: { a: { each: [] } } },
      { set: { id: 'b' } },
      { inc: { A: 1 } },
    ];
    for (const update of bad) expect(() => toPlainUpdate(update), JSON.stringify(update)).to.throw(TypeError);
    expect(toPlainUpdate({ set: { a: undefined, b: 1 }, setOnInsert: { c: undefined } })).to.deep.equal({
      set: { b: 1 },
      setOnInsert: {},
      unset: ['a'],
    });
  });

  it('reports path and cause of a failed update', () => {
    expect(() => change({ n: null }, { inc: { n: 1 } })).to.throw(TypeError, 'n is null, not a number');
    expect(() => change({ o: null }, { set: { 'o.x': 1 } })).to.throw(TypeError, 'o.x: o must be an object');
    expect(() => change({ m: null }, { min: { m: 1 } })).to.throw(TypeError);
    expect(() => change({ l: {} }, { pull: { l: { in: [] } } })).to.throw(TypeError);
  });

  it('requires unique values to be a string, a number or missing', () => {
    expect(getUniqueValue({ id: 'a' }, 'ref')).to.equal(undefined);
    expect(getUniqueValue({ id: 'a', ref: 'x' } as Doc, 'ref')).to.equal('x');
    expect(() => getUniqueValue({ id: 'a', ref: null } as Doc, 'ref')).to.throw(TypeError);
  });

  it('fills an upsert from plain equality conditions', () => {
    expect(buildSeed({ id: 'a', 'o.p': 1, n: null, x: { gt: 1 }, or: [{ y: 1 }] })).to.deep.equal({
      id: 'a',
      o: { p: 1 },
    });
    expect(() => buildSeed({ id: { in: ['a'] } })).to.throw(TypeError);
  });

  it('allows a single level of OR conditions', () => {
    expect(() => matchesFilter({ id: 'a' }, { or: [{ or: [] }] })).to.throw(TypeError);
    expect(matchesFilter({ id: 'a' }, { or: [] })).to.equal(false);
  });
});
