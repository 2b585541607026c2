import { expect } from 'chai';
import { SLUG_PATTERN } from '../../../plugins/projects/project.js';
import { findFreeSlug, toSlug } from '../../../plugins/projects/slug.js';

describe('projects: slug of a name', () => {
  for (const [name, slug] of [
    ['Web shop', 'web-shop'],
    ['  Kasse Süd — Graß & Söhne ', 'kasse-sud-grass-sohne'],
    ['Crème Brûlée 2.0', 'creme-brulee-2-0'],
    ['...', 'project'],
    ['日本', 'project'],
    ['../../etc', 'etc'],
    ['A'.repeat(80), 'a'.repeat(64)],
    [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
  ] as const) {
    it(`is ${slug} for ${name}`, () => {
      expect(toSlug(name)).to.equal(slug).and.match(SLUG_PATTERN);
    });
  }

  it('counts on while it is taken, and stays within its length', async () => {
    const taken = new Set(['shop', 'shop-2', 'a'.repeat(64)]);
    const isTaken = async (slug: string): Promise<boolean> => taken.has(slug);
    expect(await findFreeSlug('Shop', isTaken)).to.equal('shop-3');
    expect(await findFreeSlug('A'.repeat(70), isTaken)).to.equal(`${'a'.repeat(62)}-2`);
    expect(await findFreeSlug('Till', isTaken)).to.equal('till');
  });
});
