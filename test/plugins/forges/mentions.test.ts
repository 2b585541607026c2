/** Which items a text names, and which it fixes. */
import { expect } from 'chai';
import fc from 'fast-check';
import { findMentions } from '../../../plugins/forges/mentions.js';

const CASES: [text: string, named: Record<string, boolean>][] = [
  ['Fixes shop-17', { 'shop-17': true }],
  ['FIXES SHOP-17', { 'shop-17': true }],
  ['closes: shop-17', { 'shop-17': true }],
  ['Resolves #shop-17.', { 'shop-17': true }],
  ['cart (fixes shop-17)', { 'shop-17': true }],
  ['Rounds once, which fixes\nshop-17', { 'shop-17': true }],
  ['fixes\n\nshop-17', { 'shop-17': false }],
  ['fixes the cart. shop-17', { 'shop-17': false }],
  ['fixes. shop-17', { 'shop-17': false }],
  ['fixes it, see shop-17', { 'shop-17': false }],
  // A keyword for each, as on GitHub: what is only named is not closed.
  ['fixes shop-17, shop-18', { 'shop-17': true, 'shop-18': false }],
  [
    'fixes shop-17, closes shop-18 and resolves shop-19; see shop-20',
    { 'shop-17': true, 'shop-18': true, 'shop-19': true, 'shop-20': false },
  ],
  ['see shop-17, fixes shop-17', { 'shop-17': true }],
  ['fixes shop-17, see shop-17', { 'shop-17': true }],
  ['prefixes shop-17', { 'shop-17': false }],
  ['fixes https://aos.example.com/bugs/shop-17', { 'shop-17': true }],
  ['https://aos.example.com/bugs/shop-17#activity and shop-18', { 'shop-17': false, 'shop-18': false }],
  ['fixes https://github.com/acme/shop-17/pull/3', {}],
  ['my-shop-17 shop-17-beta shop-17.5 shop-17a shopping-17 shop-0 shop-017 shop- shop_17', {}],
  ['shop-1234567890', {}],
  ['-shop-17- …shop-18… 修正shop-19。', { 'shop-17': false, 'shop-18': false, 'shop-19': false }],
  [
    'Revert "Rounds once (fixes shop-17)"\n\nThis reverts commit aaaa. Fixes shop-18',
    { 'shop-17': false, 'shop-18': false },
  ],
  ['', {}],
];

describe('forges: mentions', () => {
  for (const [text, named] of CASES) {
    it(`finds the mentions in ${JSON.stringify(text)}`, () => {
      expect(Object.fromEntries(findMentions(text, 'shop'))).to.deep.equal(named);
    });
  }

  it('accepts slugs with dots, dashes and digits', () => {
    expect(Object.fromEntries(findMentions('fixes my-shop.v2-17, shop.v2-18', 'my-shop.v2'))).to.deep.equal({
      'my-shop.v2-17': true,
    });
  });

  const noise = fc.string({
    unit: fc.constantFrom(...Array.from('fixescloshp-17.,:# \n\r"()[]/é\0'), 'fixes ', 'shop-', 'http://'),
  });
  const slug = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,12}$/);

  it('finds only refs of the project, separated by whitespace, in any text', () => {
    fc.assert(
      fc.property(noise, noise, slug, fc.integer({ min: 1, max: 999_999_999 }), (before, after, project, n) => {
        const found = findMentions(`${before} ${project}-${n} ${after}`, project);
        expect(found.has(`${project}-${n}`)).to.equal(true);
        for (const ref of found.keys()) expect(ref.slice(project.length)).to.match(/^-[1-9]\d{0,8}$/);
      }),
    );
  });

  it('marks a ref after a keyword as fixed, unless the text reverts a commit', () => {
    fc.assert(
      fc.property(noise, fc.constantFrom('fixes', 'Closes', 'RESOLVES'), noise, (before, keyword, after) => {
        fc.pre(!before.trimStart().toLowerCase().startsWith('revert'));
        expect(findMentions(`${before} ${keyword} shop-17 ${after}`, 'shop').get('shop-17')).to.equal(true);
      }),
    );
  });

  it('does not mark a ref without a keyword as fixed', () => {
    const words = fc.array(
      fc.constantFrom('shop-1', 'shop-2', 'fix', 'fixed', 'close', 'fixess', ',', 'and', '\n', '('),
    );
    fc.assert(
      fc.property(words, (text) => {
        expect([...findMentions(text.join(' '), 'shop').values()]).to.not.include(true);
      }),
    );
  });
});
