/** What is known of long texts stays within its bound, and is only ever a short cut. */
import { expect } from 'chai';
import { KnownTexts } from '../../../../plugins/bugs/text/known-texts.js';
import { scrubText } from '../../../../plugins/bugs/text/scrub-text.js';

describe('bugs: known texts', () => {
  const text = (n: number): string => String(n).padEnd(100, 'x');

  it('remembers added texts, and drops half when it is full', () => {
    const known = new KnownTexts(1000);
    for (let i = 0; i < 10; i++) known.add(text(i));
    expect(Array.from({ length: 10 }, (_, i) => known.has(text(i)))).to.not.include(false);
    known.add(text(10));
    const kept = Array.from({ length: 11 }, (_, i) => known.has(text(i))).filter(Boolean).length;
    expect(kept).to.be.within(5, 6);
    for (let i = 0; i < 1000; i++) known.add(text(i));
    const after = Array.from({ length: 1000 }, (_, i) => known.has(text(i))).filter(Boolean).length;
    expect(after).to.be.within(4, 10);
  });

  it('keeps some of the texts that come in turn, more than it has room for', () => {
    const known = new KnownTexts(1000);
    let met = 0;
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 15; i++) {
        if (known.has(text(i))) met++;
        else known.add(text(i));
      }
    }
    expect(met).to.be.above(30);
  });

  it('stores no text larger than its limit, and counts none twice', () => {
    const known = new KnownTexts(150);
    known.add('y'.repeat(151));
    expect(known.has('y'.repeat(151))).to.equal(false);
    for (let i = 0; i < 5; i++) known.add(text(1));
    expect(known.has(text(1))).to.equal(true);
  });

  it('distinguishes texts of one length with the same ends', () => {
    const known = new KnownTexts(1000);
    const twin = (middle: string): string => `${'a'.repeat(100)}${middle}${'z'.repeat(100)}`;
    known.add(twin('one'));
    expect([known.has(twin('one')), known.has(twin('two'))]).to.deep.equal([true, false]);
    known.add(twin('two'));
    expect([known.has(twin('one')), known.has(twin('two'))]).to.deep.equal([false, true]);
  });

  it('finds texts again whose ends are cut within a character, and counts them once', () => {
    const known = new KnownTexts(1000);
    const cut = `${'a'.repeat(39)}\u{1f600}${'b'.repeat(100)}\u{1f600}${'c'.repeat(39)}`;
    known.add(text(1));
    for (let i = 0; i < 20; i++) known.add(cut);
    expect([known.has(cut), known.has(text(1))]).to.deep.equal([true, true]);
  });

  it('never lets a secret through: long texts are scrubbed again and again', () => {
    const stack = '    at load (/srv/app/src/orders/module.ts:10:13)\n'.repeat(1000);
    for (let i = 0; i < 3; i++) {
      expect(scrubText(stack)).to.equal(stack);
      expect(scrubText(`${stack}password=sesame`)).to.equal(`${stack}password=[scrubbed]`);
      expect(scrubText(`password=sesame\n${stack}`)).to.equal(`password=[scrubbed]\n${stack}`);
    }
  });
});
