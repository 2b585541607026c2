/** A text as its reader takes it in. */
import { expect } from 'chai';
import fc from 'fast-check';
import { toVisibleText } from '../../lib/text/invisible-characters.js';

describe('lib: invisible characters', () => {
  for (const [what, hidden] of [
    ['a zero-width space', '\u200b'],
    ['a zero-width joiner', '\u200d'],
    ['a soft hyphen', '\u00ad'],
    ['a bidirectional override', '\u202e'],
    ['an isolate', '\u2066'],
    ['a byte order mark', '\ufeff'],
    ['a word joiner', '\u2060'],
    ['a combining grapheme joiner', '\u034f'],
    ['a variation selector', '\ufe0f'],
    ['a variation selector of the supplement', '\u{e0101}'],
    ['a Mongolian one', '\u180b'],
    ['a tag', '\u{e0041}'],
    ['a Hangul filler', '\u3164'],
    ['a control character', '\u0001'],
    ['a control character of Latin 1', '\u0085'],
    ['a colour of a terminal', '\u001b[1;31m'],
    ['an escape alone', '\u001b'],
  ] as const) {
    it(`removes ${what}`, () => expect(toVisibleText(`a${hidden}b${hidden}${hidden}c`)).to.equal('abc'));
  }

  it('removes every character that Unicode does not display', () => {
    const left: string[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      const one = String.fromCodePoint(code);
      if (/\p{Default_Ignorable_Code_Point}/u.test(one) && toVisibleText(`a${one}b`) !== 'ab')
        left.push(code.toString(16));
    }
    expect(left.slice(0, 10)).to.deep.equal([]);
  });

  it('replaces full-width forms with plain characters', () =>
    expect(toVisibleText('ＡＫＩＡ：９_ａ～')).to.equal('AKIA:9_a~'));

  it('returns visible text unchanged', () => {
    for (const text of ['a\tb\nc\r\nd', 'Grüße, 世界 — “ok” 👍', 'e\u0301', '', '\u{1f600}', '\u{1d11e}'])
      expect(toVisibleText(text)).to.equal(text);
  });

  it('is idempotent, and removes nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.lorem({ maxCount: 5 }), (text, words) => {
        expect(toVisibleText(toVisibleText(text))).to.equal(toVisibleText(text));
        expect(toVisibleText(words)).to.equal(words);
      }),
    );
  });
});
