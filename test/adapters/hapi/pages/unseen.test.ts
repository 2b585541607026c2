import { expect } from 'chai';
import fc from 'fast-check';
import { revealInvisibleCharacters } from '../../../../adapters/hapi/pages/invisible-characters.js';

describe('hapi: invisible characters in pages', () => {
  it('shows bidirectional, zero-width and tag characters by their code point', () => {
    expect(
      revealInvisibleCharacters('<td title="a\u200bb">exe\u202egnp \u2066x\u2069 \ufeff\u00ad\u{e0041}</td>'),
    ).to.equal('<td title="a[U+200B]b">exe[U+202E]gnp [U+2066]x[U+2069] [U+FEFF][U+00AD][U+E0041]</td>');
  });

  it('leaves form values, addresses, and joined emoji unchanged', () => {
    const html = '<input name="q" value="a\u202eb"><a href="/x\u200b">y</a><textarea rows="2">z\u200bz</textarea>👩🏽‍💻 ❤️‍🔥';
    expect(revealInvisibleCharacters(html)).to.equal(html);
    expect(revealInvisibleCharacters(`${html}a\u200db value=&quot;\u202e&quot;`)).to.equal(
      `${html}a[U+200D]b value=&quot;[U+202E]&quot;`,
    );
  });

  it('marks invisible characters in a search field, because a search stores nothing', () => {
    const before = '<input id="q" name="q" type="search" dir="auto" value="a\u202eb">';
    expect(revealInvisibleCharacters(`${before}<input type="text" value="a\u202eb">`)).to.equal(
      '<input id="q" name="q" type="search" dir="auto" value="a[U+202E]b"><input type="text" value="a\u202eb">',
    );
  });

  it('leaves visible text of any script unchanged', () => {
    for (const text of ['naïve café', 'שלום עולם', 'مرحبا', 'हिन्दी', '日本語　全角', '🏳️ 1️⃣', 'tab\tand\u00a0space'])
      expect(revealInvisibleCharacters(text)).to.equal(text);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const shown = revealInvisibleCharacters(text);
        expect(revealInvisibleCharacters(shown)).to.equal(shown);
      }),
    );
  });
});
